"""Comparing models and the runs of other systems, on real servers."""

from pathlib import Path

import httpx
import numpy as np
import pytest

from core.metrics import parse_metric
from rankery.client import Client, Comparison, Job
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import JobFailed
from tests.integration.requests import not_none, train_job
from tests.integration.waiting import LIMIT_SECONDS


@pytest.fixture(scope="module")
def second(client: Client, datasets: dict[str, str]) -> Job:
    """A finished training with another loss, diagnostics every five iterations, and LETOR's conventions."""
    job = train_job(datasets, model_name="second", num_iterations=12) | {
        "loss": {"name": "ndcg-loss2++"},
        "diagnostics": {"interval": 5, "cutoff": 5},
        "contract": "letor",
    }
    return client.submit(job).wait(timeout_seconds=LIMIT_SECONDS)


def _compare(client: Client, dataset_id: str, systems: list[dict[str, str]], **more: object) -> Comparison:
    job = {"kind": "compare", "dataset_id": dataset_id, "systems": systems, "metrics": ["ndcg@10", "mrr"]}
    ended = client.submit(job | more).wait(timeout_seconds=LIMIT_SECONDS)
    return ended.comparison()


def test_two_models_are_compared_query_by_query(
    client: Client, stack: EmbeddedStack, trained: Job, second: Job, datasets: dict[str, str]
) -> None:
    """Means, values by query, differences and rankings of the comparison are consistent."""
    comparison = _compare(client, datasets["test"], [{"model": "shared"}, {"model": second.made("model_id")}])
    assert [system.name for system in comparison.systems] == ["shared:1", "second:1"]
    (pair,) = comparison.pairs
    assert comparison.sentence == pair.sentence
    result = not_none(pair.metrics["ndcg@10"])
    assert result.wins + result.ties + result.losses == result.queries == 40
    assert not_none(result.lower) <= result.difference <= not_none(result.upper)
    assert result.adjusted_p >= result.randomisation_p
    means = [not_none(system.metrics["ndcg@10"].mean) for system in comparison.systems]
    assert result.difference == pytest.approx(means[1] - means[0])
    values = np.array([query.values["ndcg@10"] for query in comparison.queries()])
    np.testing.assert_allclose(values.mean(axis=0), means)
    sorted_differences = comparison.differences()
    np.testing.assert_allclose(sorted_differences.differences, np.sort(values[:, 1] - values[:, 0]))
    harmed, *_ = comparison.queries("difference").first(1)
    assert harmed.query_id == pair.most_harmed[0].query_id
    improved, *_ = comparison.queries("difference", order="desc").first(1)
    assert improved.query_id == pair.most_improved[0].query_id
    changed = pair.most_improved[0]
    shown = comparison.rankings(changed.query_id).systems
    for system, value in zip(shown, (changed.a, changed.b), strict=True):
        labels = np.array([document.label for document in system.ranking])
        assert system.values["ndcg@10"] == value
        if system.documents <= 20:
            scores = -np.arange(len(labels), dtype=float)
            again = parse_metric("ndcg@10")(scores, labels, np.array([0, len(labels)]))[0]
            assert again == pytest.approx(value)


def test_a_model_compared_with_its_own_run_is_the_same(
    client: Client, stack: EmbeddedStack, trained: Job, datasets: dict[str, str], tmp_path: Path
) -> None:
    """A ranking that is downloaded as a run, and uploaded as another system, has the metrics of the model."""
    ranking_id = trained.made("ranking_id")
    run = tmp_path / "shared.run"
    run.write_bytes(httpx.get(f"{stack.url}/v1/rankings/{ranking_id}?format=trec").content)
    job = client.upload_run(run, datasets["test"], name="other").wait(timeout_seconds=60)
    imported = job.made("ranking_id")
    assert client.ranking(imported).system == "other"
    comparison = _compare(client, datasets["test"], [{"model": "shared:1"}, {"ranking_id": imported}])
    assert comparison.sentence == "shared:1 and other have the same ndcg@10 on each of 40 queries."
    evaluated = client.submit(
        {
            "kind": "evaluate",
            "ranking_id": imported,
            "dataset_id": datasets["test"],
            "metrics": ["ndcg@10"],
            "contract": "trec_eval",
        }
    ).wait(timeout_seconds=60)
    evaluation = evaluated.evaluation()
    assert (evaluation.system, evaluation.ranking_id) == ("other", imported)
    assert not_none(evaluation.contract).preset == "trec_eval"
    assert [baseline.name for baseline in not_none(evaluation.baselines)] == [
        "input order",
        "random",
        "best single feature",
    ]
    random = not_none(evaluation.baselines)[1].metrics["ndcg@10"]
    assert not_none(evaluation.metrics["ndcg@10"].mean) > not_none(random.mean)


def test_judgments_without_features_evaluate_runs_of_other_systems(
    client: Client, stack: EmbeddedStack, trained: Job, datasets: dict[str, str], tmp_path: Path
) -> None:
    """A dataset from downloaded qrels gives the same numbers; no model can score it without features."""
    qrels, run = tmp_path / "test.qrels", tmp_path / "shared.run"
    qrels.write_bytes(httpx.get(f"{stack.url}/v1/datasets/{datasets['test']}/qrels").content)
    ranking_id = trained.made("ranking_id")
    run.write_bytes(httpx.get(f"{stack.url}/v1/rankings/{ranking_id}?format=trec").content)
    dataset = client.upload_dataset(qrels).wait(timeout_seconds=60)
    assert not_none(dataset.statistics)["features"] == 0
    job = client.upload_run(run, dataset.id).wait(timeout_seconds=60)
    evaluate = {
        "kind": "evaluate",
        "ranking_id": job.made("ranking_id"),
        "dataset_id": dataset.id,
        "metrics": ["ndcg@5", "ndcg@10"],
    }
    ended = client.submit(evaluate).wait(timeout_seconds=60)
    evaluation = ended.evaluation()
    expected = trained.evaluation()
    for metric in ("ndcg@5", "ndcg@10"):
        assert evaluation.metrics[metric].mean == pytest.approx(expected.metrics[metric].mean)
    for refused in (
        train_job(datasets, model_name="no", num_iterations=1) | {"dataset_id": dataset.id},
        {"kind": "rank", "model": "shared", "dataset_id": dataset.id},
    ):
        answer = httpx.post(f"{stack.url}/v1/jobs", json=refused)
        assert answer.status_code == 422
        assert [error["pointer"] for error in answer.json()["errors"]] == ["/dataset_id"]


def test_a_malformed_run_fails_with_its_line(
    client: Client, datasets: dict[str, str], tmp_path: Path
) -> None:
    """The job's problem names the file, the line and the column."""
    run = tmp_path / "bad.run"
    run.write_text("q1 Q0 d1 1 high me\n")
    with pytest.raises(JobFailed, match=r"bad\.run, line 1, column 12: expected a score"):
        client.upload_run(run, datasets["test"]).wait(timeout_seconds=60)


def test_diagnostics_are_curves_and_belong_to_evaluations_too(
    client: Client, second: Job, datasets: dict[str, str]
) -> None:
    """Trainings compute diagnostics at iterations 1, 6, 11 and the last; evaluations do so on request."""
    curves = second.history().curves["diagnostics"]
    seen = [index for index, value in enumerate(curves["incoherent-queries"]) if value is not None]
    assert seen == [0, 5, 10, 11]
    assert curves["broken-bounds"][0] == 0.0
    evaluate = {
        "kind": "evaluate",
        "model": second.made("model_id"),
        "dataset_id": datasets["test"],
        "diagnostics": {"loss": {"name": "lambdarank", "truncation_level": 5}, "cutoff": 5},
    }
    ended = client.submit(evaluate).wait(timeout_seconds=60)
    diagnostics = not_none(ended.evaluation().diagnostics)
    assert set(diagnostics.values) == set(curves)
    assert diagnostics.values["broken-bounds"] == 0.0
    evaluation = second.evaluation()
    assert (evaluation.system, not_none(evaluation.contract).preset) == ("second:1", "letor")
