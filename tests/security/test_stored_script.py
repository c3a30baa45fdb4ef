"""Stored scripts: names with markup are stored, opened in a real browser, and shown as text."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest
from playwright.sync_api import Browser, Dialog, Page

from tests.security.target import Target

pytestmark = pytest.mark.browser

RUN = "window.__ran=1"
# Without blanks, so that the markup can be an id in every file format.
MARKUP = f"<img/src=x/onerror={RUN}>"
# Each breaks out of text, attributes, scripts, titles, styles and templates.
NAMES = (
    f"""{MARKUP}"><script>{RUN}</script>""",
    f"""'-alert(1)-'</title></textarea></style><svg/onload={RUN}>{{{{7*7}}}}${{7*7}}<b/id=injected>b</b>""",
)
PATIENCE_MILLISECONDS = 60_000
INJECTED = (
    "img[onerror], [onload], [onclick], #injected, main script, img[src='x'], iframe, object, embed, base"
)


@dataclass
class Watch:
    """A page that is watched for dialogs, injected elements and errors."""

    page: Page
    url: str
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def dismiss(self, dialog: Dialog) -> None:
        """Record and dismiss a dialog, which would block the page."""
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, path: str, *shown: str) -> None:
        """Open a page, wait until the texts are shown, and prove that nothing ran."""
        self.page.goto(self.url + path)
        for text in shown:
            self.page.get_by_text(text).first.wait_for(state="attached", timeout=PATIENCE_MILLISECONDS)
        self.page.wait_for_load_state("networkidle")
        assert self.page.evaluate("window.__ran === undefined"), path
        assert self.page.locator(INJECTED).count() == 0, path
        assert self.dialogs == self.errors == []


@pytest.fixture
def watch(browser: Browser, target: Target) -> Iterator[Watch]:
    """A browser with a session."""
    context = browser.new_context()
    page = context.new_page()
    watch = Watch(page, target.url)
    page.on("dialog", watch.dismiss)
    page.on("pageerror", lambda error: watch.errors.append(str(error)))
    page.goto(f"{target.url}/sign-in")
    page.get_by_label("API key").fill(target.make_key("admin"))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{target.url}/")
    yield watch
    context.close()


@pytest.fixture(scope="module")
def stored(target: Target) -> dict[str, str]:
    """A dataset whose names are all markup, its results, and a dataset that cannot be read."""
    header = ["query_id", "document_id", "label", '"<svg/onload=' + RUN + '>"', f'"{MARKUP}"', f'"{MARKUP}2"']
    lines = [",".join(header)]
    for query in range(12):
        for document in range(6):
            label = (query + document) % 3
            part = f"{MARKUP}{'ab'[query % 2]}"
            lines.append(
                f"{MARKUP}q{query},{MARKUP}d{document},{label},{part},{label + document / 9},{document}"
            )
    content = "\n".join([*lines, ""]).encode()
    dataset = target.upload(f"{MARKUP}.csv", content, name=f"data {MARKUP}")
    assert dataset["status"] == "ready", dataset
    broken = target.upload(f"{MARKUP}.txt", f"2 qid:1 1:{MARKUP}\n".encode(), name=f"broken {MARKUP}")
    failed = target.run(  # the test data have other features
        kind="train", model_name="markup", dataset_id=dataset["id"], test_dataset_id=target.ids["measured"],
        loss={"name": "mse"}, hyperparameters={"num_iterations": 3, "num_leaves": 4, "min_data_in_leaf": 2},
    )  # fmt: skip
    run = "".join(
        f"{MARKUP}q{q} Q0 {MARKUP}d{d} {d + 1} {9 - d} {MARKUP}\n" for q in range(12) for d in range(6)
    )
    with target.client() as http:
        fields = {"dataset_id": dataset["id"], "name": f"run {MARKUP}"}
        sent = http.post("/v1/rankings", files={"file": ("run.txt", run.encode())}, data=fields)
        assert sent.status_code == 202, sent.text
    ranking = target.wait_for_end(sent.json()["id"])["result"]["ranking_id"]
    evaluated = target.run(kind="evaluate", ranking_id=ranking, dataset_id=dataset["id"], metrics=["ndcg@5"])
    model = target.run(
        kind="train", model_name="marked", dataset_id=dataset["id"], loss={"name": "mse"},
        hyperparameters={"num_iterations": 3, "num_leaves": 4, "min_data_in_leaf": 2},
    )  # fmt: skip
    compared = target.run(
        kind="compare", dataset_id=dataset["id"], permutations=1000, metrics=["ndcg@5"],
        systems=[{"ranking_id": ranking}, {"model": "marked"}],
    )  # fmt: skip
    inspected = target.run(kind="inspect", dataset_id=dataset["id"], model="marked", repeats=1)
    for job in (evaluated, model, compared, inspected):
        assert job["status"] == "succeeded", job
    return {
        "dataset": dataset["id"], "broken": broken["id"], "broken_job": broken["job_id"],
        "failed": failed["id"], "job": model["id"], "compare_job": compared["id"],
        "inspect_job": inspected["id"], "ranking": ranking,
        "evaluation": evaluated["result"]["evaluation_id"], "comparison": compared["result"]["comparison_id"],
    }  # fmt: skip


@pytest.mark.slow  # the next test opens the pages that list names
def test_no_name_on_the_dashboard_is_run(watch: Watch, stored: dict[str, str]) -> None:
    """Names of datasets, files, features, queries, documents, columns and systems are shown as text."""
    query = httpx.URL("/").join(f"/datasets/{stored['dataset']}/queries/").path + _encoded(f"{MARKUP}q0")
    watch.open("/datasets", f"data {MARKUP}", f"broken {MARKUP}")
    watch.open(f"/datasets/{stored['dataset']}", MARKUP)
    watch.open(query, MARKUP)
    watch.open(f"/datasets/{stored['broken']}", MARKUP)
    watch.open(f"/jobs/{stored['broken_job']}", MARKUP)
    watch.open("/")
    watch.open("/jobs")
    watch.open("/models", "marked")
    watch.open("/models/marked#by=permutation", MARKUP)
    watch.open(f"/jobs/{stored['inspect_job']}")
    watch.open("/train")
    watch.open(f"/jobs/{stored['job']}")
    watch.open(f"/jobs/{stored['failed']}")
    watch.open("/models/marked#view=try", MARKUP)
    watch.open("/models/marked#view=exports", MARKUP)
    watch.open("/evaluations", f"run {MARKUP}")
    watch.open(f"/evaluations/{stored['evaluation']}", MARKUP)
    watch.open("/rankings", f"run {MARKUP}")
    watch.open(f"/rankings/{stored['ranking']}", MARKUP)
    watch.open("/comparisons", f"run {MARKUP}")
    watch.open(f"/comparisons/{stored['comparison']}", MARKUP)
    watch.open(f"/jobs/{stored['compare_job']}")


@pytest.mark.parametrize("name", [NAMES[0], pytest.param(NAMES[1], marks=pytest.mark.slow)])
def test_names_of_datasets_and_keys_are_text(watch: Watch, target: Target, name: str) -> None:
    """A name with quotes and brackets stays text in lists, forms and attributes."""
    with target.client() as http:
        created = http.post("/v1/datasets/synthetic", json={"name": name, "queries": 3})
        assert created.status_code == 202
        target.wait_for_end(created.json()["job_id"])
        secret = http.post("/v1/keys", json={"name": name, "scopes": ["admin"]}).json()["secret"]
    watch.page.get_by_role("button", name="Sign out").click()
    watch.page.get_by_label("API key").fill(secret)
    watch.page.get_by_role("button", name="Sign in").click()
    watch.page.wait_for_url(f"{target.url}/")
    for path in ("/", "/datasets", "/train", "/comparisons", "/models"):
        watch.open(path)
    watch.open("/datasets", name)


@pytest.mark.slow
def test_text_from_a_url_is_shown_as_text(watch: Watch) -> None:
    """Ids, queries and parameters of a URL are shown as text, in title and body."""
    name = "".join(NAMES)
    for path in (
        f"/jobs/{_encoded(name)}",
        f"/datasets/{_encoded(name)}",
        f"/datasets/x/queries/{_encoded(name)}",
        f"/models/{_encoded(name)}",
        f"/models?contains={_encoded(name)}&tag={_encoded(name)}",
        f"/rankings/{_encoded(name)}",
        f"/evaluations?model={_encoded(name)}",
        f"/evaluations/{_encoded(name)}",
        f"/comparisons/{_encoded(name)}?a={_encoded(name)}&metric={_encoded(name)}&query={_encoded(name)}",
        f"/sign-in?next={_encoded(name)}",
        f"/#{_encoded(name)}",
        f"/datasets?search={_encoded(name)}",
        f"/comparisons?dataset={_encoded(name)}&system={_encoded(name)}",
        f"/train?dataset={_encoded(name)}",
        f"/train?goal=loss&dataset={_encoded(name)}",
    ):
        watch.open(path)


def _encoded(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())
