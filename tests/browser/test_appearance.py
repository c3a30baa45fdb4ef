"""The pages in light and dark, on a desk and on a phone, by pointer and by keyboard.

With RANKERY_TEST_SCREENSHOTS, a folder for pictures, each colour scheme is shown in both widths, else in one.
"""

import os

import pytest
from playwright.sync_api import expect

from tests.browser.actions import fill_training, make_dataset, start_training, upload, wait_until_read
from tests.browser.judged_files import broken_text, letor_text, table_text
from tests.browser.prepared import Prepared
from tests.browser.visit import DESK, PHONE, Look, Visit

pytestmark = pytest.mark.browser

PAGES = {
    "overview": "/",
    "jobs": "/jobs",
    "datasets": "/datasets",
    "dataset-add": "/datasets#add",
    "train": "/train",
    "models": "/models",
    "evaluations": "/evaluations",
    "rankings": "/rankings",
    "studies": "/studies",
    "new-study": "/studies/new",
    "experiments": "/experiments",
    "run-experiment": "/experiments#run",
    "evaluate": "/evaluations#evaluate",
    "comparisons": "/comparisons",
    "compare-form": "/comparisons?system=compared:1&system=compared:2#compare",
}
# What stands on a page only after the page itself: it is waited for.
PARTS_TO_SEE = {
    "job": [".plot .main-svg"],
    "compare": [".plot .main-svg"],
    "dataset-features": ["tbody tr:visible"],
    "dataset-queries": ["tbody tr:visible"],
    "dataset-query": ["tbody tr:visible"],
    "model": ["#dependence .plot .main-svg", ".tree .leaf"],
    "run-experiment": ["#run-form:not([aria-busy])"],
    "new-study": ["#new-study:not([aria-busy])"],
    "experiment": [".plot .main-svg"],
    "comparison": [".two-rankings"],
    "comparison-of-three": [".two-rankings"],
    "evaluate": ["#evaluate-form:not([aria-busy])"],
    "compare-form": ["#compare-form:not([aria-busy])"],
    "model-exports": ["#exports form"],
    "model-try": ["#try .candidates tbody tr"],
    "ranking": [".ranked tbody tr"],
}
DARK_LUMINANCE = 0.2
LOOKS: list[Look] = [("light", DESK), ("dark", PHONE)]
if os.environ.get("RANKERY_TEST_SCREENSHOTS"):
    LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (DESK, PHONE)]


@pytest.fixture(scope="module")
def finished() -> dict[str, str]:
    """Remember what the first test of this module makes, for the others to look at."""
    return {}


@pytest.fixture
def job_page(visit: Visit, finished: dict[str, str]) -> str:
    """Have a finished, tested training to look at and return the address of its page."""
    if "path" not in finished:
        make_dataset(visit, "looks", queries=100, seed=1)
        make_dataset(visit, "looks test", queries=50, seed=2)
        page = fill_training(visit, dataset="looks", model="looks", iterations=60, test="looks test")
        job_id = start_training(page)
        expect(page.locator(".job-heading .status")).to_have_text("succeeded")
        finished["path"] = f"/jobs/{job_id}"
    return finished["path"]


@pytest.fixture
def dataset_pages(visit: Visit, finished: dict[str, str]) -> dict[str, str]:
    """Have datasets to look at, of text, of a table and of a broken file, and return their pages by name."""
    if "broken" not in finished:
        finished["text"] = wait_until_read(upload(visit, file=("looks.txt", letor_text())))
        finished["table"] = wait_until_read(upload(visit, file=("looks.csv", table_text())))
        finished["broken"] = wait_until_read(upload(visit, file=("a.txt", broken_text(9))), "invalid")
    text, table = f"/datasets/{finished['text']}", f"/datasets/{finished['table']}"
    return {
        "dataset": text,
        "dataset-columns": table,
        "dataset-features": f"{text}#features",
        "dataset-queries": f"{table}#queries",
        "dataset-query": f"{table}/queries/q1",
        "dataset-invalid": f"/datasets/{finished['broken']}",
    }


@pytest.fixture
def result_pages(prepared: Prepared) -> dict[str, str]:
    """Have an evaluation and comparisons of two and of three systems, and return their pages by name.

    To be asked for before the job's page: its trainings are not to be the newest.
    """
    systems = [{"model": prepared.model(1)}, {"model": prepared.model(2)}]
    metrics = ["ndcg@10", "arp"]
    evaluation = prepared.evaluation(
        "diagnosed",
        **systems[1],
        metrics=[*metrics, "map"],
        diagnostics={"loss": {"name": "lambdarank"}, "cutoff": 5},
    )
    of_two = prepared.comparison("of two", systems=systems, metrics=metrics)
    experiment = prepared.experiment()
    three = [{"ranking_id": prepared.run()}, *systems]
    prepared.inspection(prepared.model(2))
    of_three = prepared.comparison("of three", systems=three, metrics=metrics)
    return {
        "evaluation": f"/evaluations/{evaluation}",
        "experiment": f"/experiments/{experiment}",
        "comparison": f"/comparisons/{of_two}#query=q5",
        "model": "/models/compared:2#by=permutation&tree=2",
        "model-about": "/models/compared:2",
        "model-aliases": "/models/compared:2#view=aliases",
        "model-exports": "/models/compared:2#view=exports&format=solr",
        "model-try": "/models/compared:2#view=try",
        "ranking": f"/rankings/{prepared.run()}#query=q5",
        "comparison-of-three": f"/comparisons/{of_three}#pair=0-2&query=q5",
    }


def test_every_page_is_for_everybody(
    visit: Visit, result_pages: dict[str, str], job_page: str, dataset_pages: dict[str, str]
) -> None:
    """By the preferred colours, without sideways scrolling on a desk or a phone, and without a barrier."""
    barriers: dict[str, list[str]] = {}
    for name, path in {
        **PAGES,
        "job": job_page,
        "compare": job_page.replace("jobs/", "jobs/compare?job="),
        **dataset_pages,
        **result_pages,
    }.items():
        page = visit.open(path)
        visit.settle()
        for part in PARTS_TO_SEE.get(name, ()):
            page.locator(part).first.wait_for()
        for scheme, width in LOOKS:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            # Charts follow the window a moment later.
            page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
            assert (_luminance(visit) < DARK_LUMINANCE) == (scheme == "dark"), name
            visit.photograph(f"{name}-{scheme}-{width}")
            barriers[f"{name} in {scheme} at {width}"] = visit.barriers()
        page.set_viewport_size({"width": DESK, "height": 900})
    assert {place: found for place, found in barriers.items() if found} == {}


def _luminance(visit: Visit) -> float:
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    red, green, blue = (int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(","))
    return (red + green + blue) / (3 * 255)


def test_a_row_opens_by_keyboard(visit: Visit, job_page: str) -> None:
    """The button of a job opens its row with Enter, which shows its curve, and closes it again."""
    job_id = job_page.rsplit("/", 1)[1]
    page = visit.open("/jobs")
    row = page.locator(f'[data-job="{job_id}"]')
    button = row.get_by_role("button", name="Details of looks")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(row.locator(".plot .main-svg").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(row.locator(".plot")).to_be_hidden()


def test_the_first_tab_stop_skips_to_the_content(visit: Visit) -> None:
    """Keyboard users reach the content without walking through the navigation."""
    page = visit.open("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_results_lead_on_to_the_model_and_the_ranking(visit: Visit, job_page: str) -> None:
    """A finished job links to its model, and its model file and ranking can be downloaded."""
    page = visit.open(job_page)
    with page.expect_download() as ranking:
        page.get_by_role("link", name="Ranking (TREC)").click()
    assert ranking.value.path().read_text().split()[1] == "Q0"
    with page.expect_download() as model:
        page.get_by_role("link", name="Model file").click()
    assert model.value.path().read_text().startswith("tree")
    page.get_by_role("link", name="Model", exact=True).click()
    expect(page.get_by_role("heading", name="looks:1")).to_be_visible()
