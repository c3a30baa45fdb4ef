"""Actions of a user on the dashboard."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.visit import Visit


def make_dataset(visit: Visit, name: str, queries: int, seed: int = 0) -> None:
    """Fill in the form for synthetic data and wait until the dataset is ready."""
    page = visit.open("/datasets#add")
    form = page.locator("#synthetic")
    form.get_by_role("textbox", name="Name").fill(name)
    form.get_by_label("Queries").fill(str(queries))
    form.get_by_label("Seed", exact=True).fill(str(seed))
    form.get_by_role("button", name="Make dataset").click()
    expect(dataset_row(page, name)).to_have_attribute("data-status", "ready")


def upload(visit: Visit, **files: tuple[str, str | bytes]) -> Page:
    """Upload files, each a name and a content by form field, and return the page of the dataset."""
    page = visit.open("/datasets#add")
    choose_files(page, **files)
    return send_upload(page)


def choose_files(page: Page, **files: tuple[str, str | bytes]) -> None:
    """Choose files in the upload form without sending them."""
    form = page.locator("#upload")
    if not form.is_visible():
        page.get_by_role("link", name="Add a dataset").first.click()
    if "file" not in files:
        form.get_by_label("train, validation and test").check()
    for part, (name, content) in files.items():
        data = content.encode() if isinstance(content, str) else content
        form.locator(f'input[name="{part}"]').set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": data}
        )


def send_upload(page: Page) -> Page:
    """Send the upload form and wait for the page of the dataset."""
    page.locator("#upload").get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile(r"/datasets/ds_"))
    return page


def wait_until_read(page: Page, status: str = "ready") -> str:
    """Wait until the service has read the dataset whose page is open, and return its id."""
    dataset = page.locator("#dataset")
    expect(dataset).to_have_attribute("data-status", re.compile("ready|invalid"))
    assert dataset.get_attribute("data-status") == status, dataset.inner_text()
    return page.url.rsplit("/", 1)[1]


def dataset_row(page: Page, name: str) -> Locator:
    """Return the row of a dataset in the list of datasets."""
    return page.locator("[data-dataset]").filter(has=page.get_by_role("link", name=name, exact=True))


def fill_training(
    visit: Visit, *, dataset: str, model: str, iterations: int, test: str | None = None
) -> Page:
    """Fill in the training form without submitting it."""
    page = open_training(visit)
    page.get_by_label("Train on").select_option(label=option_label(page, dataset))
    page.get_by_label("Model name").fill(model)
    if test is not None:
        page.get_by_label("Test on").select_option(label=option_label(page, test))
    page.get_by_label("Iterations", exact=True).fill(str(iterations))
    page.get_by_label("Patience").fill(str(iterations))
    return page


def open_training(visit: Visit, query: str = "goal=loss") -> Page:
    """Open the training form with all its options shown."""
    page = visit.open(f"/train?{query}")
    unfold(page)
    return page


def unfold(page: Page) -> None:
    """Wait until the training form has its fields, and show all its options."""
    page.locator("#train:not([aria-busy])").wait_for()
    page.get_by_role("button", name="Show all").click()


def open_training_form(page: Page) -> None:
    """Open the training form from the page of a dataset, and choose to train with one loss."""
    page.get_by_role("link", name="Train on this dataset").click()
    unfold(page)
    page.get_by_label("Train with one loss").check()


def option_label(page: Page, dataset: str) -> str:
    """Return the label of the dataset's option, which includes the number of queries."""
    options = page.get_by_label("Train on").locator("option").all_inner_texts()
    return next(text for text in options if text.startswith(f"{dataset} ("))


def start_training(page: Page) -> str:
    """Submit the form and return the id of the job, whose page opens."""
    page.get_by_role("button", name="Start training").click()
    page.wait_for_url(re.compile(r"/jobs/job_"))
    return page.url.rsplit("/", 1)[1]


def compare_export(page: Page, format_name: str, verdict: str | re.Pattern[str]) -> Locator:
    """Compare an export with the open model in a format; return the report with this verdict."""
    page.locator("#views").get_by_role("link", name="Exports").click()
    page.locator("#exports").get_by_label("Format").select_option(format_name)
    page.get_by_role("button", name="Export and compare").click()
    report = page.locator(".parity")
    expect(report.get_by_role("heading", name=verdict)).to_be_visible()
    return report


def job_spec(visit: Visit, job_id: str, *, cancel: bool = False) -> dict[str, Any]:
    """Return the specification of a job; with `cancel`, also cancel the job."""
    path = f"{visit.url}/v1/jobs/{job_id}"
    spec: dict[str, Any] = visit.page.request.get(path).json()["spec"]
    if cancel:
        visit.page.request.post(f"{path}/cancel")
    return spec
