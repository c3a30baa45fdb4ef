"""Trainings ranked by their validation data."""

from typing import Any

import pytest

from core.store import Store
from tests.app.conftest import TestClient
from tests.grids import METRIC, Grid, finished_grid

pytestmark = pytest.mark.embedded

SIZE = 12


@pytest.fixture
def grid(store: Store) -> Grid:
    """A finished grid."""
    return finished_grid(store, size=60)


def rank_trainings(client: TestClient, job_ids: list[str], **parameters: str) -> dict[str, Any]:
    """Request the ranking of trainings."""
    response = client.get("/v1/trainings", params={"job": job_ids, **parameters})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_grid_is_ranked_by_validation(client: TestClient, grid: Grid) -> None:
    """The best of 60 by validation data is first, though not the best by test data; all have intervals."""
    ranking = rank_trainings(client, grid.job_ids)
    assert (ranking["metric"], ranking["higher_is_better"], ranking["queries"]) == (METRIC, True, 300)
    items = ranking["items"]
    assert len(items) == 60
    assert items[0]["job"]["id"] == grid.job_ids[grid.best]
    assert items[0]["model"] == grid.references[grid.best]
    means = [item["validation"]["mean"] for item in items]
    assert means == sorted(means, reverse=True)
    tests = [item["test"]["mean"] for item in items]
    assert tests[0] != max(tests)
    for item in items:
        for part in ("validation", "test"):
            assert item[part]["lower"] < item[part]["mean"] < item[part]["upper"]


def test_trainings_tied_with_the_best_are_marked(client: TestClient, grid: Grid) -> None:
    """The tied trainings result from a paired test, adjusted for the number of comparisons."""
    ranking = rank_trainings(client, grid.job_ids)
    tied = [item["tied"] for item in ranking["items"]]
    assert sum(tied) == grid.tied
    assert 2 < grid.tied < 30
    assert (ranking["items"][0]["p"], ranking["items"][0]["difference"]) == (None, 0.0)
    assert all((item["p"] >= 0.05) is item["tied"] for item in ranking["items"][1:])
    assert "over 300 validation queries, adjusted for all pairs of 60 trainings" in ranking["sentence"]


def test_trainings_on_other_queries_are_not_tested(client: TestClient, store: Store) -> None:
    """Trainings on other queries or without stored values (earlier releases, queued jobs) are not tested."""
    grid = finished_grid(store, size=4)
    other = finished_grid(store, name="other", size=2, queries=200)
    with store.begin() as tx:
        model = tx.models.resolve(grid.references[1])
        model.validation = None
        waiting = tx.jobs.add("train", {"model_name": "web"})
    ranking = rank_trainings(client, [*grid.job_ids, *other.job_ids, waiting.id])
    by_job = {item["job"]["id"]: item for item in ranking["items"]}
    earlier = by_job[grid.job_ids[1]]
    assert (earlier["tied"], earlier["validation"]["lower"]) == (None, None)
    assert earlier["validation"]["mean"] is not None
    assert (by_job[waiting.id]["validation"], by_job[waiting.id]["tied"]) == (None, None)
    assert ranking["items"][-1]["job"]["id"] == waiting.id
    tested = {job_id for job_id, item in by_job.items() if item["tied"] is not None}
    assert tested in ({*grid.job_ids} - {grid.job_ids[1]}, {*other.job_ids})
    assert f"{len(by_job) - len(tested)} could not be tested" in ranking["sentence"]


def test_trainings_without_values_of_queries_are_not_tested(client: TestClient, store: Store) -> None:
    """Two trainings of an earlier release are ranked without a test of their difference."""
    grid = finished_grid(store, size=2)
    with store.begin() as tx:
        for reference in grid.references:
            tx.models.resolve(reference).validation = None
    ranking = rank_trainings(client, grid.job_ids)
    assert ranking["queries"] is None
    assert [item["tied"] for item in ranking["items"]] == [None, None]
    assert ranking["sentence"].startswith("No test was possible")


def test_a_metric_may_be_chosen(client: TestClient, store: Store) -> None:
    """A metric that no training measured ranks none; an unknown metric is refused."""
    grid = finished_grid(store, size=2)
    assert [item["validation"] for item in rank_trainings(client, grid.job_ids, metric="map")["items"]] == [
        None,
        None,
    ]
    refused = client.get("/v1/trainings", params={"job": grid.job_ids, "metric": "nothing@3"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/metric"


def test_jobs_other_than_trainings_are_left_out(client: TestClient, store: Store) -> None:
    """The ranking of other jobs alone is empty."""
    with store.begin() as tx:
        other = tx.jobs.add("rank", {})
    ranking = rank_trainings(client, [other.id, "job_1"])
    assert (ranking["items"], ranking["missing"], ranking["metric"]) == ([], [other.id, "job_1"], None)
    assert client.get("/v1/trainings").status_code == 422
