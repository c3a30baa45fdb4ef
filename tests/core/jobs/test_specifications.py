"""Specifications of jobs are read back as they were stored, by any release."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from core.data.folds import HeldOutFraction
from core.errors import InvalidInput
from core.jobs import JobKind, JobLimits, JobSpec, System, parse
from core.jobs.base_training import HeldOutDataset
from core.jobs.measuring import EvaluateJob, RankJob
from core.jobs.train import ReproduceJob, TrainJob
from core.losses import make_loss
from core.metrics import DEFAULT
from core.training.distribution import Distribution, Ranks
from tests.core.jobs.specifications import CURRENT, EARLIER


def as_stored(spec: JobSpec) -> dict[str, Any]:
    """Return a specification as it comes back from the database."""
    stored: dict[str, Any] = json.loads(json.dumps(spec.to_json()))
    return stored


@pytest.mark.parametrize("kind", CURRENT)
def test_a_specification_is_stored_as_it_was_submitted(kind: str) -> None:
    """A round trip from JSON to a specification and back neither loses nor adds entries."""
    assert as_stored(parse(kind, CURRENT[kind])) == json.loads(json.dumps(CURRENT[kind]))


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        *(pytest.param(kind, stored, id=f"current-{kind}") for kind, stored in CURRENT.items()),
        *(pytest.param(kind, stored, id=f"earlier-{kind}") for kind, stored in EARLIER.items()),
    ],
)
def test_a_specification_is_read_back_as_it_was_stored(kind: str, stored: dict[str, Any]) -> None:
    """A round trip from a specification to JSON and back is lossless, whatever release wrote the JSON."""
    spec = parse(kind, stored)
    assert parse(kind, as_stored(spec)) == spec
    assert type(spec) is JobKind(kind).specification
    with pytest.raises(FrozenInstanceError):
        setattr(spec, fields(spec)[0].name, None)


def test_specifications_of_the_first_release_keep_their_meaning() -> None:
    """Values that the first release did not store have the defaults of that time."""
    spec = parse("train", EARLIER["train"])
    assert isinstance(spec, TrainJob)
    assert (spec.priority, spec.limits, spec.allow_absent_features, spec.label_map) == (
        *("normal", None, False),
        {},
    )
    assert (spec.validation, spec.test, spec.tested_on) == (HeldOutFraction(0.2), None, "ds_3")
    assert (spec.training.metric_interval, spec.training.conventions) == (1, DEFAULT)
    assert spec.training.loss == make_loss("listmle", ties="input", seed=42)
    evaluation = parse("evaluate", EARLIER["evaluate"])
    assert isinstance(evaluation, EvaluateJob)
    assert evaluation.system == System("mdl_1", model_id="mdl_1", reference="web")
    assert (evaluation.measures.contract, evaluation.measures.seed) == (DEFAULT, 0)
    assert evaluation.diagnostics is None
    ranking = parse("rank", EARLIER["rank"])
    assert isinstance(ranking, RankJob)
    assert ranking.system.model_id == "mdl_1"


def test_a_reproduction_takes_the_specification_of_a_training() -> None:
    """The reproduction drops the priority, the limits and the diagnostics of the training."""
    requested = {**CURRENT["train"], "model_id": "mdl_1", "system": "web:3"}
    spec = parse("reproduce", requested)
    assert isinstance(spec, ReproduceJob)
    assert (spec.priority, spec.limits, spec.training.diagnostics) == ("normal", None, None)
    assert dict(spec.dataset_ids) == {"train": "ds_1", "validation": "ds_2"}
    assert spec.allows_absent_features
    assert "model_name" not in spec.to_json()


@pytest.mark.parametrize(
    ("kind", "stored", "pointer"),
    [
        ("ingest", {}, "/dataset_id"),
        ("train", {"dataset_id": "ds_1", "loss": {"name": "mse"}}, "/model_name"),
        ("train", {**EARLIER["train"], "validation": {"share": 1}}, "/validation"),
        ("evaluate", {"dataset_id": "ds_1"}, "/system"),
        ("promote", {**CURRENT["promote"], "rule": {"metric": "map", "later": 1}}, "/rule/later"),
        ("drift", {**CURRENT["drift"], "thresholds": {"later": 1}}, "/thresholds/later"),
        ("compare", {**CURRENT["compare"], "systems": [{"model": "web"}]}, "/systems/system"),
        ("evaluate", {**EARLIER["evaluate"], "contract": "none"}, "/contract"),
    ],
)
def test_an_invalid_specification_has_a_pointer(kind: str, stored: dict[str, Any], pointer: str) -> None:
    """The job fails with the place in its specification."""
    with pytest.raises(InvalidInput) as invalid:
        parse(kind, stored)
    assert invalid.value.problems[0].pointer == pointer


def test_limits_are_read_from_any_specification() -> None:
    """Limits apply before the specification is parsed."""
    assert JobLimits.of({}) is None
    assert JobLimits.of({"limits": {"seconds": 3.0}}) == JobLimits(seconds=3.0)


@pytest.mark.parametrize("kind", CURRENT)
def test_a_job_names_its_datasets(kind: str) -> None:
    """A job's datasets must stay while it is active."""
    both = {each: {"ds_1", "ds_2"} for each in ("train", "auto-train", "trial", "conclude", "drift")}
    without = ("import-model", "report", "try-candidates", "ingest-clicks", "click-model")
    none = {each: set[str]() for each in without}
    expected = {**both, **none, "judge": {"ds_1", "ds_2", "ds_3"}}.get(kind, {"ds_1"})
    assert set(parse(kind, CURRENT[kind]).dataset_ids.values()) == expected


def test_parts_are_random_only_if_queries_are_drawn() -> None:
    """Queries are drawn to hold out a part of the dataset, but not for a column or another dataset."""
    train, again = parse("train", CURRENT["train"]), parse("reproduce", CURRENT["reproduce"])
    assert isinstance(train, TrainJob)
    assert isinstance(again, ReproduceJob)
    assert train.validation == HeldOutDataset("ds_2")
    assert (train.parts_are_random, again.parts_are_random) == (False, True)


def test_a_bootstrap_sample_is_random() -> None:
    """The seed has an effect, since it draws the training queries."""
    train = parse("train", CURRENT["train"] | {"bootstrap": True})
    assert isinstance(train, TrainJob)
    assert train.parts_are_random


def test_a_training_without_newer_options_is_stored_as_by_earlier_releases() -> None:
    """The digest of the specification then stays the same, too."""
    without = {name: value for name, value in CURRENT["train"].items() if name != "automatic"}
    stored = parse("train", without | {"bootstrap": False, "automatic": None, "distribution": None}).to_json()
    assert json.loads(json.dumps(stored)) == without


def test_a_distribution_is_read_with_its_defaults() -> None:
    """A reproduction copies the distribution of the training, whose stored JSON has all values."""
    requested = EARLIER["train"] | {"distribution": {"ranks": {"at_most": 3}}}
    train = parse("train", requested)
    assert isinstance(train, TrainJob)
    assert train.distribution == Distribution(Ranks(2, 3), threads_per_rank=1)
    again = parse("reproduce", {**as_stored(train), "model_id": "mdl_1"})
    assert isinstance(again, ReproduceJob)
    assert again.distribution == train.distribution


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"distribution": {"ranks": {"at_most": 1}}}, "/distribution/ranks/at_most"),
        ({"distribution": {}, "validation": {"folds": 5}}, "/validation"),
        ({"distribution": {}, "hyperparameters": {"boosting": "dart"}}, "/hyperparameters/boosting"),
    ],
)
def test_a_job_that_cannot_be_distributed_is_refused(changes: dict[str, Any], pointer: str) -> None:
    """The job fails with the place in its specification, before any rank starts."""
    with pytest.raises(InvalidInput) as invalid:
        parse("train", EARLIER["train"] | changes)
    assert [problem.pointer for problem in invalid.value.problems] == [pointer]


@pytest.mark.long
def test_lists_of_jobs_need_no_numeric_library() -> None:
    """Administration of keys opens the store, and waits for neither Numba nor LightGBM."""
    script = "import sys, core.jobs, core.store; print({'numba', 'lightgbm', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("kind", "part"), [("inspect", "partial_dependence"), ("evaluate", "diagnostics"), ("train", "automatic")]
)
def test_options_of_a_later_release_are_ignored(kind: str, part: str) -> None:
    """A worker of this release runs a job that a later one has queued during an upgrade."""
    stored = CURRENT[kind]
    assert parse(kind, stored | {part: {**stored[part], "later": 1}}) == parse(kind, stored)
