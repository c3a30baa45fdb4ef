"""All jobs apply the same rule if a dataset lacks features of a model."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.data.feature_alignment import align_features
from core.store import Job
from tests.worker.inline_worker import SMALL, InlineWorker
from tests.worker.test_inspection import SPECIFICATION as INSPECTION
from worker.job.systems import load_model

N_FEATURES = 12
NUMBERED = tuple(f"f{number}" for number in range(1, N_FEATURES + 1))
NAMED = tuple("abcdefghijkl")
COMPARISON: dict[str, Any] = {"contract": "default", "permutations": 1000, "seed": 42}

Stored = Callable[..., str]


def judged_queries(names: tuple[str, ...], n_features: int, seed: int = 1) -> RankingDataset:
    """Return judged queries with only the first features; the labels depend on all features."""
    full = synthetic_dataset(60, seed=seed, polynomial_seed=1, documents_per_query=20, n_features=N_FEATURES)
    features = np.asarray(full.features)
    standardised = (features - features.mean(axis=0)) / features.std(axis=0)
    full = full.with_labels(np.digitize(standardised.sum(axis=1), (-3.0, 0.0, 3.0, 6.0)))
    return full.with_features(np.ascontiguousarray(features[:, :n_features]), names[:n_features])


def use(inline_worker: InlineWorker, kind: str, dataset_id: str, model_id: str, **spec: Any) -> Job:
    """Run a job of this kind with a model and a dataset."""
    system = {"model_id": model_id, "system": "web:1"}
    specs: dict[str, dict[str, Any]] = {
        "evaluate": {**system, "metrics": ["ndcg@5"]},
        "rank": system,
        "inspect": {**system, **INSPECTION},
        "compare": {"systems": [system, {**system, "system": "again"}], "metrics": ["ndcg@5"], **COMPARISON},
    }
    return inline_worker.run(kind, dataset_id, **specs[kind], **spec)


def findings_of_result(inline_worker: InlineWorker, job: Job) -> list[dict[str, Any]] | None:
    """Return the findings in the result of a job."""
    assert job.result is not None, job.problem
    with inline_worker.store.read() as tx:
        if job.kind == "evaluate":
            return tx.evaluations.get(job.result["evaluation_id"]).findings
        if job.kind == "rank":
            return tx.rankings.get(job.result["ranking_id"]).findings
        if job.kind == "inspect":
            return tx.inspections.get(job.result["inspection_id"]).findings
        systems = tx.comparisons.get(job.result["comparison_id"]).systems
    return [finding for system in systems for finding in system["findings"] or ()] or None


@pytest.fixture(scope="module")
def stored(shared_worker: InlineWorker) -> Stored:
    """A function that stores each dataset once."""

    @cache
    def store(names: tuple[str, ...], n_features: int, seed: int = 2) -> str:
        dataset = judged_queries(names, n_features, seed)
        return shared_worker.add(dataset, f"absent {names[0]} {n_features} {seed}")

    return store


@pytest.fixture(scope="module")
def models(shared_worker: InlineWorker, stored: Stored) -> Mapping[tuple[str, ...], str]:
    """The id of a model for each kind of names; the models use all features."""
    grown = SMALL | {"num_iterations": 30}
    trained = {
        names: shared_worker.training_result(stored(names, N_FEATURES, 1), hyperparameters=grown)["model_id"]
        for names in (NUMBERED, NAMED)
    }
    for names, model_id in trained.items():
        assert load_model(shared_worker.store, model_id).used_features == names
    return trained


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("evaluate", NUMBERED),
        ("evaluate", NAMED),
        *((kind, NAMED) for kind in ("rank", "inspect", "compare")),
    ],
    ids=lambda value: value if isinstance(value, str) else f"from {value[0]}",
)
def test_absent_features_are_found_and_too_many_refused(
    shared_worker: InlineWorker,
    stored: Stored,
    models: Mapping[tuple[str, ...], str],
    kind: str,
    names: tuple[str, ...],
) -> None:
    """Job and result have the counts; if over half are absent, the job fails unless they are allowed."""
    inline_worker, model_id = shared_worker, models[names]
    whole = use(inline_worker, kind, stored(names, N_FEATURES), model_id)
    assert (whole.findings, findings_of_result(inline_worker, whole)) == (None, None)
    half = use(inline_worker, kind, stored(names, 6), model_id)
    assert half.status == "succeeded", half.problem
    assert half.findings is not None
    assert half.findings == findings_of_result(inline_worker, half)
    assert {(f["code"], f["severity"], f["count"], f["total"]) for f in half.findings} == {
        ("features-absent", "warning", 6, 12)
    }
    assert half.findings[0]["title"] == "6 of 12 features that web:1 uses are not in the dataset"
    assert half.findings[0]["examples"] == list(names[6:])
    fewer_id = stored(names, 5)
    refused = use(inline_worker, kind, fewer_id, model_id)
    assert refused.problem is not None
    assert refused.problem["title"] == "Features absent"
    assert refused.problem["errors"][0]["pointer"] == "/dataset_id"
    assert "lacks 7 of the 12 features that web:1 uses" in refused.problem["detail"]
    assert '"allow_absent_features": true' in refused.problem["detail"]
    allowed = use(inline_worker, kind, fewer_id, model_id, allow_absent_features=True)
    assert allowed.status == "succeeded", allowed.problem
    assert allowed.findings is not None
    assert (allowed.findings[0]["severity"], allowed.findings[0]["count"]) == ("error", 7)


def test_only_features_that_trees_use_are_required(inline_worker: InlineWorker) -> None:
    """Features that no tree splits by, such as constant ones, may be absent."""
    data = judged_queries(NUMBERED, N_FEATURES)
    data.matrix[:, 3:] = 7.0
    model_id = inline_worker.training_result(inline_worker.add(data, "train"))["model_id"]
    assert load_model(inline_worker.store, model_id).used_features == NUMBERED[:3]
    job = use(inline_worker, "evaluate", inline_worker.add(judged_queries(NUMBERED, 3), "narrow"), model_id)
    assert (job.status, job.findings) == ("succeeded", None)


@pytest.mark.long
def test_absent_features_are_zero_in_letor_and_missing_elsewhere(
    shared_worker: InlineWorker, models: Mapping[tuple[str, ...], str]
) -> None:
    """The metrics equal those of a dataset with these values for the absent features."""
    inline_worker = shared_worker
    for names, value in ((NUMBERED, 0.0), (NAMED, np.nan)):
        narrow = judged_queries(names, 8, 2)
        features = np.full((narrow.n_documents, N_FEATURES), value, np.float32)
        features[:, :8] = narrow.features
        wide = narrow.with_features(features, names)
        np.testing.assert_array_equal(align_features(narrow, names).features, features)
        jobs = [
            use(inline_worker, "evaluate", inline_worker.add(data, f"absent {names[0]} {key}"), models[names])
            for data, key in ((narrow, "narrow"), (wide, "wide"))
        ]
        assert jobs[0].metrics == jobs[1].metrics is not None


@pytest.mark.long
@pytest.mark.parametrize(
    "names", [pytest.param(NUMBERED, marks=pytest.mark.slow), NAMED], ids=["numbered", "named"]
)
def test_absent_features_are_checked_before_a_training(
    shared_worker: InlineWorker, stored: Stored, names: tuple[str, ...]
) -> None:
    """If most features are absent, the job fails before it trains; if some are, it has a finding."""
    inline_worker, train_id = shared_worker, stored(names, N_FEATURES, 1)
    fewer_id, half_id = stored(names, 5), stored(names, 6)
    roles: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/validation", {"validation": {"dataset_id": fewer_id}}),
        ("/test_dataset_id", {"test_dataset_id": fewer_id}),
    )
    for pointer, spec in roles:
        refused = inline_worker.train(train_id, **spec)
        assert refused.problem is not None
        assert (refused.problem["title"], refused.metrics) == ("Features absent", None)
        assert refused.problem["errors"][0]["pointer"] == pointer
        assert inline_worker.train(train_id, **spec, allow_absent_features=True).status == "succeeded"
    grown = SMALL | {"num_iterations": 30}
    job = inline_worker.train(train_id, test_dataset_id=half_id, hyperparameters=grown)
    absent = [f for f in job.findings or () if f["code"] == "features-absent"]
    assert [(f["count"], f["total"], f["role"]) for f in absent] == [(6, 12, "test")] * 2
    assert job.result is not None
    with inline_worker.store.read() as tx:
        stored_findings = tx.evaluations.get(job.result["evaluation_id"]).findings
    assert stored_findings == [{name: value for name, value in absent[1].items() if name != "role"}]


def test_a_training_without_the_option_is_reproduced(inline_worker: InlineWorker) -> None:
    """A specification stored before the option to allow absent features existed can be reproduced."""
    spec = {"validation": {"dataset_id": inline_worker.add(judged_queries(NUMBERED, 5, 2), "fewer")}}
    dataset_id = inline_worker.add(judged_queries(NUMBERED, N_FEATURES), "train")
    job = inline_worker.train(dataset_id, **spec, allow_absent_features=True)
    assert job.result is not None
    stored_spec = {
        name: value for name, value in job.spec.items() if name not in ("kind", "allow_absent_features")
    }
    again = inline_worker.run(
        "reproduce", stored_spec.pop("dataset_id"), **stored_spec, model_id=job.result["model_id"]
    )
    assert again.result is not None, again.problem
    assert again.result["equal"]


def test_a_model_is_kept_if_it_cannot_be_tested(inline_worker: InlineWorker) -> None:
    """The used features are known after the training; the model is kept without a test, with a finding."""
    data = judged_queries(NUMBERED, N_FEATURES)
    data.matrix[1:, 3:] = 0.0  # they vary in one document, which is too few for a leaf
    reversed_names = NUMBERED[::-1]
    train_id = inline_worker.add(data.with_features(data.features, reversed_names), "train")
    test_id = inline_worker.add(judged_queries(NUMBERED, 9, 2), "test")  # it lacks the three used features
    job = inline_worker.train(train_id, test_dataset_id=test_id)
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    assert set(job.result) == {"model_id"}
    last = (job.findings or [])[-1]
    assert (last["code"], last["severity"], last["count"], last["total"]) == (
        "features-absent",
        "error",
        3,
        3,
    )
    allowed = inline_worker.train(train_id, test_dataset_id=test_id, allow_absent_features=True)
    assert "evaluation_id" in (allowed.result or {})
