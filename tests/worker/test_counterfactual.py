"""Counterfactual jobs on a log of random rankings of a dataset's documents."""

from typing import Any

import numpy as np
import pytest

from app.jobs.requests.clicks import CounterfactualRequest, PropensityRequest
from app.jobs.submission.clicks import resolve_counterfactual, resolve_propensity
from core.data import RankingDataset, synthetic_dataset
from core.errors import InvalidInput, NotFound
from core.store import Job
from tests.worker.inline_worker import InlineWorker
from tests.worker.test_click_logs import ingested

LISTS = 900


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Queries of three documents."""
    return synthetic_dataset(12, seed=1, documents_per_query=3, n_features=4)


def clicks_on(dataset: RankingDataset) -> str:
    """Return a log of random orders, in which users click relevant documents more often."""
    rng = np.random.default_rng(0)
    best = float(np.max(dataset.labels)) or 1.0
    rows = ["list,query,document,rank,click,propensity,user"]
    for number in range(LISTS):
        query = number % dataset.n_queries
        documents = rng.permutation(np.arange(*dataset.query_boundaries[query : query + 2]))
        for rank, document in enumerate(documents, 1):
            probability = dataset.labels[document] / best / rank
            click = int(rng.random() < probability)
            names = dataset.query_ids[query], dataset.document_ids[document]
            rows.append(f"{number},{names[0]},{names[1]},{rank},{click},{1 / len(documents)},{number % 200}")
    return "\n".join(rows) + "\n"


def run_request(inline_worker: InlineWorker, **changed: Any) -> Job:
    """Validate a request as the API does, and run its job."""
    with inline_worker.store.begin() as tx:
        request = CounterfactualRequest.model_validate({"kind": "counterfactual", **changed})
        job_id = tx.enqueue(resolve_counterfactual(tx, request)).id
    return inline_worker.run_queued(job_id)


def test_a_model_is_compared_with_the_logged_ranking(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """A trained model is better than random orders, and the same seed yields the same result."""
    dataset_id = inline_worker.add(dataset, "judged")
    inline_worker.training_result(dataset_id, hyperparameters={"num_iterations": 20, "min_data_in_leaf": 1})
    log = ingested(inline_worker, clicks_on(dataset))
    assert log.status == "ready", log.problem
    request = {
        "click_log_id": log.id,
        "dataset_id": dataset_id,
        "systems": [{"model": "web:1"}],
        "metric": "dcg@3",
        "estimator": "item_position",
    }
    job = run_request(inline_worker, **request)
    assert job.status == "succeeded", job.problem
    assert job.title == "web:1"
    result: Any = job.result
    assert (result["lists"], result["clusters"]) == (LISTS, 200)
    assert [system["name"] for system in result["systems"]] == ["logged", "web:1"]
    (difference,) = result["differences"]
    assert difference["better"] == "web:1"
    assert difference["sentence"].startswith("web:1 is better than logged: dcg@3 +")
    assert run_request(inline_worker, **request).result == result


def test_errors_of_estimated_propensities_widen_the_intervals(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """A propensity job gives the same estimate as its propensities alone, with a wider interval."""
    dataset_id = inline_worker.add(dataset, "judged")
    inline_worker.training_result(dataset_id, hyperparameters={"num_iterations": 20, "min_data_in_leaf": 1})
    log = ingested(inline_worker, clicks_on(dataset))
    with inline_worker.store.begin() as tx:
        plan = PropensityRequest.model_validate(
            {"kind": "propensity", "click_log_id": log.id, "method": "shuffled", "resamples": 20}
        )
        propensities = tx.enqueue(resolve_propensity(tx, plan)).id
    estimated: Any = inline_worker.run_queued(propensities).result
    request = {
        "click_log_id": log.id,
        "dataset_id": dataset_id,
        "systems": [{"model": "web:1"}],
        "metric": "dcg@3",
        "estimator": "examination",
    }
    by_job: Any = run_request(inline_worker, **request, propensity_job=propensities).result
    exact: Any = run_request(inline_worker, **request, examination=estimated["propensities"]).result
    for system, other in zip(by_job["systems"], exact["systems"], strict=True):
        assert system["value"] == other["value"]
        assert system["upper"] - system["lower"] > 1.2 * (other["upper"] - other["lower"])


def test_examination_covers_the_clicked_ranks_of_the_dataset(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Clicks on queries that the dataset lacks need no examination probability."""
    dataset_id = inline_worker.add(dataset, "judged")
    inline_worker.training_result(dataset_id, hyperparameters={"num_iterations": 2, "min_data_in_leaf": 1})
    others = "".join(f"{LISTS},other,{rank},{rank},1,0.1,1\n" for rank in range(1, 11))
    log = ingested(inline_worker, clicks_on(dataset) + others)
    request = {
        "click_log_id": log.id,
        "dataset_id": dataset_id,
        "systems": [{"model": "web:1"}],
        "estimator": "examination",
    }
    enough = run_request(inline_worker, **request, examination=[1.0, 0.5, 0.3])
    assert enough.status == "succeeded", enough.problem
    too_few = run_request(inline_worker, **request, examination=[1.0, 0.5])
    assert too_few.problem is not None
    assert "for each rank from 1 to 3, the last one with a click" in too_few.problem["detail"]


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"metric": "ndcg@10"}, "/metric"),
        ({"metric": "absent"}, "/metric"),
        ({"metric": "clicks@0"}, "/metric"),
        ({"estimator": "examination"}, "/examination"),
        ({"examination": [1.0]}, "/examination"),
        ({"estimator": "cascade_doubly_robust", "normalised": True}, "/normalised"),
    ],
)
def test_wrong_requests_are_refused(
    inline_worker: InlineWorker, changed: dict[str, Any], pointer: str
) -> None:
    """The error has the JSON pointer, and is raised before objects are read."""
    request = {"click_log_id": "clk_1", "dataset_id": "ds_1", "systems": [{"model": "web"}], **changed}
    with pytest.raises(InvalidInput, match=f"^{pointer}: "):
        run_request(inline_worker, **request)


def test_an_absent_log_is_not_found(inline_worker: InlineWorker) -> None:
    """The error has the id of the log."""
    with pytest.raises(NotFound, match="clk_1"):
        run_request(inline_worker, click_log_id="clk_1", dataset_id="ds_1", systems=[{"model": "web"}])
