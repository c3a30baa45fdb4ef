"""Linear scorers and networks: the form, the pages of jobs and models, and the comparison with trees."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import fill_training, open_training, start_training
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

EPOCHS = 12
HIDDEN = [16, 8]


@pytest.fixture(scope="module")
def trained() -> dict[str, str]:
    """The job ids of the trainings that `jobs` has run, by kind of scorer."""
    return {}


@pytest.fixture
def jobs(visit: Visit, prepared: Prepared, trained: dict[str, str]) -> dict[str, str]:
    """Train a network and trees on the same data with the form, and return the job ids by kind of scorer."""
    if not trained:
        prepared.dataset("learnt from.csv", 1)
        prepared.test_data()
        page = fill_network(visit)
        visit.fit("network-form")
        assert visit.violations() == []
        trained["mlp"] = start_training(page)
        expect(page.locator(".job-heading .status")).to_have_text("succeeded")
        page = fill_training(
            visit, dataset="learnt from.csv", model="of-both-kinds", iterations=30, test="measured.csv"
        )
        trained["trees"] = start_training(page)
        expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    return trained


def fill_network(visit: Visit) -> Page:
    """Fill in the form for a network without submitting it."""
    page = fill_training(
        visit, dataset="learnt from.csv", model="of-both-kinds", iterations=EPOCHS, test="measured.csv"
    )
    page.locator("#scorer").select_option("mlp")
    page.get_by_label("Units of the hidden layers").fill(", ".join(map(str, HIDDEN)))
    page.get_by_label("Dropout").fill("0.1")
    page.get_by_label("Epochs at most").fill(str(EPOCHS))
    page.locator("#scorer-parameters").get_by_label("Learning rate").fill("0.01")
    page.get_by_label("Documents per batch").fill("512")
    return page


def test_the_form_has_the_fields_of_the_chosen_scorer(visit: Visit, prepared: Prepared) -> None:
    """The form shows the fields of boosting for trees and the fields of each network for networks."""
    prepared.dataset("learnt from.csv", 1)
    page = open_training(visit)
    leaves = page.get_by_label("Leaves per tree")
    expect(leaves).to_be_visible()
    expect(page.locator("#scorer-parameters .field")).to_have_count(0)

    page.locator("#scorer").select_option("linear")
    for label in ("Leaves per tree", "Continue from", "Categorical feature"):
        expect(page.get_by_label(label)).to_be_hidden()
    expect(page.get_by_label("Epochs at most")).to_be_visible()
    expect(page.get_by_label("Units of the hidden layers")).to_have_count(0)

    page.locator("#scorer").select_option("mlp")
    expect(page.get_by_label("Units of the hidden layers")).to_have_attribute(
        "placeholder", "64, 32 (default)"
    )
    expect(page.get_by_label("Decay after a cost increase")).to_be_visible()

    page.locator("#scorer").select_option("trees")
    expect(leaves).to_be_visible()
    expect(page.get_by_label("Continue from")).to_be_visible()
    expect(page.get_by_label("Epochs at most")).to_have_count(0)


def test_a_network_is_watched_and_tested(visit: Visit, jobs: dict[str, str]) -> None:
    """The job has the scorer as typed, and its page counts epochs and shows the times of the network."""
    spec = visit.page.request.get(f"{visit.url}/v1/jobs/{jobs['mlp']}").json()["spec"]
    chosen = {"kind": "mlp", "hidden": HIDDEN, "dropout": 0.1, "epochs": EPOCHS, "batch_documents": 512}
    assert chosen.items() <= spec["scorer"].items()
    assert spec["hyperparameters"] == {}

    page = visit.open(f"/jobs/{jobs['mlp']}")
    expect(page.locator(".plot")).to_have_attribute("aria-label", re.compile("best at epoch"))
    expect(page.locator(".iteration-times h3")).to_have_text("Time of an epoch")
    expect(page.locator(".iteration-times .legend")).to_contain_text("network")
    expect(page.locator("#job")).to_contain_text(f"{EPOCHS} of {EPOCHS} epochs")
    expect(page.locator("#job .facts").first).to_contain_text("16, 8")
    visit.fit("network-job")
    assert visit.violations() == []


@pytest.mark.slow
def test_trees_and_a_network_are_compared(visit: Visit, jobs: dict[str, str]) -> None:
    """The page of trainings lists the scorers and their settings, and the comparison ends in a verdict."""
    page = visit.open(f"/jobs/compare?job={jobs['trees']}&job={jobs['mlp']}")
    heads = page.locator(".compared thead")
    expect(heads).to_contain_text("Scorer hidden")
    columns = [each.strip() for each in heads.locator("th").all_inner_texts()]
    assert "Scorer" in columns
    assert "Boosting" not in columns, "settings at their defaults have no column"
    rows = page.locator(".compared tbody tr")
    expect(rows.filter(has_text="trees")).to_have_count(1)
    expect(rows.filter(has_text="mlp")).to_contain_text("16, 8")
    page.locator(".plot .drawing").first.wait_for()
    visit.fit("network-trainings")
    assert visit.violations() == []

    page.get_by_role("link", name="Compare query by query").click()
    page.locator("#compare-form:not([aria-busy])").wait_for()
    page.get_by_role("button", name=re.compile("^Compare")).last.click()
    page.wait_for_url(re.compile("/comparisons/"))
    sentence = page.get_by_role("region", name="Conclusion").locator(".sentence")
    expect(sentence).to_contain_text(re.compile("better|worse|no evidence"))
    expect(sentence).to_contain_text("of-both-kinds:")
    visit.fit("network-verdict")
    assert visit.violations() == []


def test_the_page_of_a_network_shows_its_layers(visit: Visit, jobs: dict[str, str]) -> None:
    """The page shows kind, parameters, epochs and layers, and no views of trees."""
    page = visit.open(f"/models/{_model(visit, jobs['mlp'])}")
    tiles = page.locator("#model .tiles")
    parameters = 6 * 16 + 16 + 16 * 8 + 8 + 8 + 1
    expect(tiles).to_contain_text(re.compile(rf"Kind\s*network\s*Parameters\s*{parameters}\s*Epochs"))
    expect(tiles).not_to_contain_text("Trees")
    layers = page.get_by_role("region", name="Layers")
    expect(layers).to_contain_text("6 features → 16 → 8 → score, relu")
    expect(layers).to_contain_text("scaled to mean 0 and deviation 1, missing values as 0")
    visit.fit("network-model")
    assert visit.violations() == []
    page.get_by_role("link", name="Versions").click()
    expect(page.locator("#versions tbody tr").filter(has_text="network")).not_to_have_count(0)


@pytest.mark.slow
def test_a_network_is_inspected_without_gains_or_trees(
    visit: Visit, jobs: dict[str, str], prepared: Prepared
) -> None:
    """A network has permutation importance and partial dependence, and neither gains nor trees."""
    model = _model(visit, jobs["mlp"])
    page = visit.open(f"/models/{model}#view=inside")
    expect(page.locator("#importance .nothing")).to_be_visible()
    expect(page.locator("#trees")).to_be_hidden()
    expect(page.get_by_role("button", name="gain")).to_have_count(0)
    prepared.inspection(model)
    page.reload()
    expect(page.locator("#importance")).to_contain_text("f6")
    page.locator("#dependence .plot .drawing").first.wait_for()
    visit.fit("network-inspection")
    assert visit.violations() == []


def test_the_list_of_models_names_the_kinds(visit: Visit, jobs: dict[str, str]) -> None:
    """The list shows which models are networks and which are trees."""
    model = _model(visit, jobs["mlp"])
    page = visit.open("/models?name=of-both-kinds")
    row = page.locator("tbody tr").filter(has=page.get_by_role("link", name=model, exact=True))
    expect(row.locator('[data-column="kind"]')).to_have_text("network")


def test_a_clone_of_a_network_is_submitted_as_a_grid(visit: Visit, jobs: dict[str, str]) -> None:
    """A clone of a network can be changed and submitted as a grid of layers and learning rates."""
    page = open_training(visit, f"from={jobs['mlp']}")
    expect(page.locator("#scorer")).to_have_value("mlp")
    expect(page.get_by_label("Train with one loss")).to_be_checked()
    layers = page.get_by_label("Units of the hidden layers")
    expect(layers).to_have_value("16, 8")
    expect(page.get_by_label("Dropout")).to_have_value("0.1")
    expect(page.get_by_label("Epochs at most")).to_have_value(str(EPOCHS))

    page.get_by_label("Epochs at most").fill("2")
    layers.fill("16, 8; 4")
    page.locator("#scorer-parameters").get_by_label("Learning rate").fill("0.01, 0.003")
    expect(page.locator("#grid")).to_contain_text(
        "4 trainings will be submitted: 2 of hidden × 2 of learning rate"
    )
    page.get_by_role("button", name="Start 4 trainings").click()
    page.wait_for_url(re.compile("/jobs/compare"))
    ids = re.findall(r"job_\w+", page.url)
    specs = [page.request.get(f"{visit.url}/v1/jobs/{each}").json()["spec"] for each in ids]
    assert [(each["scorer"]["hidden"], each["scorer"]["learning_rate"]) for each in specs] == [
        ([16, 8], 0.01),
        ([16, 8], 0.003),
        ([4], 0.01),
        ([4], 0.003),
    ]
    assert {each["scorer"]["dropout"] for each in specs} == {0.1}
    for each in ids:
        page.request.post(f"{visit.url}/v1/jobs/{each}/cancel")


@pytest.mark.slow  # test_forms.py shows refusals at fields
def test_a_refusal_is_shown_at_the_field_of_the_network(visit: Visit, prepared: Prepared) -> None:
    """A dropout rate above its maximum is refused at its field."""
    visit.refusals_expected = True
    prepared.dataset("learnt from.csv", 1)
    prepared.test_data()
    page = fill_network(visit)
    page.get_by_label("Dropout").fill("1.5")
    page.get_by_role("button", name="Start training").click()
    expect(page.get_by_label("Dropout")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Dropout")).to_be_focused()


def _model(visit: Visit, job_id: str) -> str:
    """Return the reference of the model that a job made."""
    get = visit.page.request.get
    model_id = get(f"{visit.url}/v1/jobs/{job_id}").json()["result"]["model_id"]
    model = get(f"{visit.url}/v1/models/{model_id}").json()
    return f"{model['name']}:{model['version']}"


def test_scores_of_a_network_are_explained(visit: Visit, jobs: dict[str, str]) -> None:
    """Documents are ranked by the network, each with the contributions of its features."""
    page = visit.open(f"/models/{_model(visit, jobs['mlp'])}#view=try")
    page.locator("#try .candidates tbody tr").first.wait_for()
    expect(page.locator("#try .hint").first).to_contain_text("other features keep their values from the data")
    expect(page.locator("#try .contributions").first).to_be_attached()
    visit.fit("network-try")
    assert visit.violations() == []
