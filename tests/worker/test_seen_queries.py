"""Models that are measured on queries that they were trained on."""

from collections.abc import Mapping
from typing import Any

import pytest

from core.data import synthetic_dataset
from core.store import Job
from tests.purging import purge
from tests.worker.inline_worker import InlineWorker

APART: dict[str, Any] = {"test": {"fraction": 0.2}, "seed": 7}


@pytest.fixture
def dataset_id(inline_worker: InlineWorker) -> str:
    """A dataset on which `web:1` was trained without test queries."""
    dataset_id = _add(inline_worker, "judged", seed=1)
    inline_worker.training_result(dataset_id)
    return dataset_id


def seen(job: Job) -> list[tuple[str | None, str]]:
    """Return the role and the title of each finding on seen queries."""
    assert job.status == "succeeded", job.problem
    findings = [each for each in job.findings or () if each["code"] == "seen-queries"]
    return [(each.get("role"), each["title"]) for each in findings]


def _add(inline_worker: InlineWorker, digest: str, *, seed: int) -> str:
    dataset = synthetic_dataset(40, seed=seed, documents_per_query=8, n_features=4)
    return inline_worker.add(dataset, digest)


def _model_id(inline_worker: InlineWorker, reference: str) -> str:
    with inline_worker.store.read() as tx:
        return tx.models.resolve(reference).id


def _system(inline_worker: InlineWorker, reference: str) -> Mapping[str, str]:
    return {"model_id": _model_id(inline_worker, reference), "system": reference}


WHOLE = "web:1 was trained on queries of this dataset: metrics on them are too high"


def test_an_evaluation_on_training_queries_is_reported(inline_worker: InlineWorker, dataset_id: str) -> None:
    """Another upload of the file has the same finding, and another dataset has none."""
    same_file = _add(inline_worker, "judged", seed=1)
    other = _add(inline_worker, "other", seed=2)
    for measured_on, expected in ((dataset_id, [WHOLE]), (same_file, [WHOLE]), (other, [])):
        system = _system(inline_worker, "web:1")
        evaluated = inline_worker.run("evaluate", measured_on, **system, metrics=["ndcg@5"])
        assert [title for _, title in seen(evaluated)] == expected
        with inline_worker.store.read() as tx:
            stored = tx.evaluations.get((evaluated.result or {})["evaluation_id"]).findings or []
        assert [each["title"] for each in stored if each["code"] == "seen-queries"] == expected


def test_a_compared_model_that_has_seen_the_queries_is_reported(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """Only the model that was trained on the dataset is named."""
    other = _add(inline_worker, "other", seed=2)
    inline_worker.training_result(other)
    systems = [_system(inline_worker, reference) for reference in ("web:1", "web:2")]
    compared = inline_worker.run(
        "compare", dataset_id, systems=systems, metrics=["ndcg@5"], permutations=1_000
    )
    assert seen(compared) == [(None, WHOLE)]


def test_a_continued_training_reports_what_its_base_has_seen(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """The base has seen held-out queries, unless both trainings hold out the same ones."""
    parts = APART | {"validation": {"fraction": 0.25}}
    continued = inline_worker.train(dataset_id, init_model="web:1", **parts)
    assert seen(continued) == [
        (role, f"web:1 was trained on queries of the {role} data: metrics on them are too high")
        for role in ("validation", "test")
    ]
    # web:2 holds out the same queries as the next training, but it contains web:1.
    assert len(seen(inline_worker.train(dataset_id, init_model="web:2", **parts))) == 2
    inline_worker.training_result(dataset_id, model_name="apart", **parts)
    assert seen(inline_worker.train(dataset_id, init_model="apart:1", **parts)) == []
    assert seen(inline_worker.train(dataset_id, init_model="apart:1", **APART)) == []
    other_parts = parts | {"seed": 8}
    assert len(seen(inline_worker.train(dataset_id, init_model="apart:1", **other_parts))) == 2


def test_folds_of_a_continued_training_were_seen_by_its_base(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """Values of a cross-validation are too high on queries of its base."""
    job = inline_worker.train(dataset_id, init_model="web:1", validation={"folds": 3})
    assert [role for role, _ in seen(job)] == ["validation"]


def test_weights_fitted_on_queries_of_the_members_are_reported(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """The member that was trained on the validation queries is named; its weight is too large."""
    parts = {"validation": {"fraction": 0.25}, "seed": 7}
    inline_worker.training_result(dataset_id, model_name="apart", **parts)
    scorer = {"kind": "sum", "models": ["web:1", "apart:1"], "weights": None}
    job = inline_worker.train(
        dataset_id, model_name="both", loss=None, hyperparameters={}, scorer=scorer, **parts
    )
    assert [(role, title.split(" ")[0]) for role, title in seen(job)] == [("validation", "web:1")]


def test_the_training_queries_of_a_deleted_base_are_unknown(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """A model that contains a deleted model may have been trained on any queries."""
    other = _add(inline_worker, "other", seed=2)
    inline_worker.training_result(other, model_name="later", init_model="web:1")
    system = _system(inline_worker, "later:1")
    with inline_worker.store.begin() as tx:
        purge(tx, "model", tx.models.resolve("web:1").id)
    third = _add(inline_worker, "third", seed=3)
    evaluated = inline_worker.run("evaluate", third, **system, metrics=["ndcg@5"])
    ((_, title),) = seen(evaluated)
    assert title.startswith("later:1 may have been trained on queries of this dataset")
