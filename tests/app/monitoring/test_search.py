"""Search over everything that has an id."""

from collections.abc import Callable
from typing import Any

import pytest

from core.jobs import System
from core.metrics import Conventions
from core.store import Model, Store
from tests.app.conftest import TestClient


@pytest.fixture
def model(store: Store, add_model: Callable[[str], Model]) -> Model:
    """A model of a trained job, with an evaluation, a ranking and a comparison."""
    add_model("web-2")
    model = add_model("web-2")
    system = System("web-2:2", model.id)
    contract = Conventions().to_json()
    with store.begin() as tx:
        origin: dict[str, Any] = {"job_id": model.job_id, "dataset_id": str(model.dataset_id)}
        tx.evaluations.add(system=system, summaries={}, contract=contract, baselines=[], slices=[], **origin)
        tx.rankings.add(system=system, queries=1, documents=2, **origin)
        tx.comparisons.add(
            sentence="web-2:2 is better than web-2:1",
            systems=[{"name": "web-2:2"}, {"name": "web-2:1"}],
            metrics=["ndcg@10"],
            contract=contract,
            permutations=1_000,
            seed=1,
            pairs=[],
            **origin,
        )
    return model


def search(client: TestClient, text: str, **parameters: int) -> list[tuple[str, str]]:
    """Return the kinds and names that a search finds."""
    answer = client.get("/v1/search", params={"text": text, **parameters})
    assert answer.status_code == 200
    return [(hit["kind"], hit["name"]) for hit in answer.json()["items"]]


def test_names_are_found_by_a_part(client: TestClient, model: Model) -> None:
    """Case does not matter; of the versions of a model, the latest is found."""
    all_hits = [
        ("model", "web-2:2"),
        ("job", "web-2"),
        ("job", "web-2"),
        ("evaluation", "web-2:2"),
        ("comparison", "web-2:2, web-2:1"),
        ("ranking", "web-2:2"),
    ]
    assert search(client, "EB-2") == all_hits
    assert search(client, "JUDGED") == [("dataset", "judged")] * 2
    assert search(client, "nothing like it") == []
    assert search(client, "%") == []


def test_click_logs_and_interleavings_are_found(client: TestClient, store: Store) -> None:
    """Hits have the status of a log and the rankers of an interleaving."""
    with store.begin() as tx:
        log = tx.click_logs.add("clicks of May", {"kind": "upload"})
    interleaving = client.post(
        "/v1/interleavings", json={"name": "MAYbe", "rankings": ["bm25", "dense"]}
    ).json()
    hits = client.get("/v1/search", params={"text": "may"}).json()["items"]
    assert [(hit["kind"], hit["name"], hit["detail"]) for hit in hits] == [
        ("click-log", "clicks of May", "pending"),
        ("interleaving", "MAYbe", "bm25, dense"),
    ]
    assert search(client, log.id) == [("click-log", "clicks of May")]
    assert search(client, interleaving["id"][:-1]) == [("interleaving", "MAYbe")]


def test_a_job_of_a_later_release_is_found(client: TestClient, store: Store) -> None:
    """During an upgrade, a search finds the jobs of kinds that the API does not know."""
    with store.begin() as tx:
        later = tx.jobs.add("evaluate", {})
        later.kind, later.title = "later", "later job"
    assert search(client, "later job") == [("job", "later job")]


def test_ids_are_found_by_their_beginning(client: TestClient, model: Model) -> None:
    """The prefix of the kind is optional."""
    assert search(client, model.id) == [("model", "web-2:2")]
    assert search(client, model.id[:-1].upper()) == [("model", "web-2:2")]
    assert ("job", "web-2") in search(client, model.job_id.removeprefix("job_")[:12])
    assert search(client, "mdl_zzzz") == []


def test_a_reference_means_one_version(client: TestClient, model: Model) -> None:
    """A reference finds its version first."""
    assert search(client, "web-2:1")[0] == ("model", "web-2:1")


def test_a_few_of_each_kind_are_found(client: TestClient, model: Model) -> None:
    """The limit applies to each kind."""
    assert [kind for kind, _ in search(client, "web", limit=1)] == [
        "model",
        "job",
        "evaluation",
        "comparison",
        "ranking",
    ]


def test_studies_and_experiments_are_found(
    client: TestClient, store: Store, ready_dataset: Callable[[], str]
) -> None:
    """A study is found by a part of its name, an experiment by its paper, and both by id."""
    body = {
        "name": "leaves of autumn",
        "model_name": "web",
        "dataset_id": ready_dataset(),
        "test": {"fraction": 0.4},
        "base": {"loss": {"name": "lambdarank"}},
        "search_space": {"/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64}},
        "objective": {"metric": "ndcg@10", "validation": {"fraction": 0.5}},
    }
    study = client.post("/v1/studies", json=body).json()
    with store.begin() as tx:
        experiment = tx.experiments.add(
            paper="lambdaloss-2018",
            scale="quick",
            data="synthetic",
            folds=[],
            dry_run=True,
            datasets=[],
        )
    assert ("study", "leaves of autumn") in search(client, "OF AUTUMN")
    assert search(client, study["id"]) == [("study", "leaves of autumn")]
    assert search(client, "lambdaloss") == [("experiment", "lambdaloss-2018")]
    (hit,) = client.get("/v1/search", params={"text": experiment.id}).json()["items"]
    assert (hit["id"], hit["detail"]) == (experiment.id, "preparing")


@pytest.mark.parametrize(
    "parameters", [{}, {"text": ""}, {"text": "a" * 201}, {"text": "a\x00"}, {"text": "a", "limit": 0}]
)
def test_a_search_needs_a_text(client: TestClient, parameters: dict[str, str]) -> None:
    """The text must be neither empty nor too long, and have no control characters."""
    assert client.get("/v1/search", params=parameters).status_code == 422


def test_a_hit_has_a_detail(client: TestClient, model: Model) -> None:
    """The detail of a job is its kind and its status."""
    items = client.get("/v1/search", params={"text": model.job_id}).json()["items"]
    assert [(hit["id"], hit["detail"]) for hit in items] == [(model.job_id, "Training, queued")]
