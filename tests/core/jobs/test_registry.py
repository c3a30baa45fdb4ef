"""The registry of kinds: one class and one runner each; titles, main metrics, lanes and clean-up."""

import re
from dataclasses import dataclass, field
from importlib import import_module
from inspect import getfile
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import core.jobs
from core.jobs import (
    LANES,
    MAX_TITLE,
    JobKind,
    JobSpec,
    Lane,
    MainMetric,
    lane_of,
    main_metric_of,
    orphaned_artifacts,
    specification_of,
    title_of,
)
from tests.core.jobs.specifications import CURRENT, EARLIER
from worker.process import tasks
from worker.process.tasks import RUNNERS

SOURCES = Path(core.jobs.__file__).parents[2]
METRICS = {"train": {"loss": 0.1, "map": 0.5, "ndcg@5": 0.6}, "validation": {"map": 0.4, "ndcg@5": 0.3}}


@dataclass
class UnfinishedJob:
    """The row of a job that two workers claimed."""

    kind: str
    spec: dict[str, Any] = field(default_factory=dict)
    id: str = "job_1"
    token: int = 2


def test_every_kind_has_one_class_and_one_runner() -> None:
    """No specification is left out of the registry, and no two kinds share a class or a runner."""
    modules = (import_module(f"core.jobs.{found.name}") for found in iter_modules(core.jobs.__path__))
    kinds = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, JobSpec) and hasattr(value, "kind")
    }
    assert kinds == {kind.specification for kind in JobKind}, "list the class in core/jobs/registry.py"
    assert len(kinds) == len(JobKind)
    assert set(RUNNERS) == set(JobKind), "list the runner in worker/process/tasks.py"
    assert len(set(RUNNERS.values())) == len(JobKind)
    assert all(kind == kind.specification.kind for kind in JobKind)


def test_kinds_are_listed_in_two_places() -> None:
    """The registry and the table of runners list them; another file with all kinds must be generated."""
    names = [re.compile(rf"""\b{kind.name}\b|["']{kind.value}["']""") for kind in JobKind]
    listing = {
        path.relative_to(SOURCES).as_posix()
        for package in ("app", "core", "rankery", "worker")
        for path in (SOURCES / package).rglob("*")
        if path.suffix in (".py", ".js", ".html") and "site" not in path.parts
        if all(name.search(path.read_text()) for name in names)
    }
    generated = {"rankery/cli/names.py"} | {
        f"rankery/client/schemas/{name}.py" for name in ("answers", "requests")
    }
    assert listing - generated == {
        "core/jobs/registry.py",
        Path(getfile(tasks)).relative_to(SOURCES).as_posix(),
    }


def test_every_kind_has_a_lane_and_a_label() -> None:
    """Trainings do not share a lane with short jobs."""
    assert {kind for kinds in LANES.values() for kind in kinds} == set(JobKind)
    assert LANES[Lane.TRAINING] == (
        *(JobKind.TRAIN, JobKind.REPRODUCE),
        *(JobKind.AUTO_TRAIN, JobKind.TRY_CANDIDATES),
        *(JobKind.TRIAL, JobKind.CONCLUDE),
        *(JobKind.CLICK_MODEL, JobKind.JUDGE),
    )
    assert (lane_of("train"), lane_of("rank")) == (Lane.TRAINING, Lane.QUICK)
    assert lane_of("a kind of a later release") == Lane.QUICK
    assert len({kind.specification.label for kind in JobKind}) == len(JobKind)


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("train", "web (num_leaves 7)"),
        ("auto-train", "web"),
        ("try-candidates", "web"),
        ("reproduce", "web:3"),
        ("evaluate", "web:3"),
        ("compare", "web:3, bm25"),
        ("promote", "web:4 for @champion"),
        ("inspect", "web:3"),
        ("drift", "web:3"),
        ("counterfactual", "web:1"),
        ("rank", "web:3"),
        ("ingest", "train.txt"),
        ("ingest-clicks", "clicks.csv"),
        ("click-model", "clicks.csv"),
        ("judge", "judged by clicks"),
        ("propensity", "regression-em"),
        ("simulate-clicks", "simulated"),
        ("import", "bm25"),
        ("import-model", "web"),
    ],
)
def test_a_title_is_the_name_of_the_main_object(kind: str, title: str) -> None:
    """The main object of a specification is, for example, a model or a dataset."""
    assert title_of(kind, CURRENT[kind]) == title


def test_a_title_is_found_in_specifications_of_earlier_releases() -> None:
    """The title is a reference or an id if nothing else is stored; an empty specification has no title."""
    assert title_of("evaluate", EARLIER["evaluate"]) == "web"
    assert title_of("evaluate", {"model_id": "mdl_1"}) == "mdl_1"
    assert title_of("compare", {"systems": [{"model": "web"}, {"ranking_id": "rnk_1"}]}) == "web, rnk_1"
    assert title_of("ingest", EARLIER["ingest"]) is None
    assert all(title_of(kind, {}) is None for kind in JobKind)
    assert title_of("ingest", {"name": "x" * 300}) == "x" * MAX_TITLE


@pytest.mark.parametrize(
    ("kind", "spec", "metrics", "found"),
    [
        ("train", CURRENT["train"], None, None),
        ("train", CURRENT["train"], METRICS, MainMetric("map", "validation", 0.4)),
        ("train", {"metrics": ["ndcg@5"]}, METRICS, MainMetric("ndcg@5", "validation", 0.3)),
        ("train", {}, METRICS, MainMetric("map", "validation", 0.4)),
        ("train", {}, METRICS | {"test": {"map": 0.9}}, MainMetric("map", "validation", 0.4)),
        ("train", {}, {"train": {"map": 0.9}, "test": {"map": 0.5}}, MainMetric("map", "test", 0.5)),
        ("train", {}, {"train": {"loss": 0.1}}, None),
        ("train", CURRENT["train"], {"test": {"map": None}}, None),
        ("evaluate", CURRENT["evaluate"], {"test": {"mrr": 0.2}}, MainMetric("mrr", "test", 0.2)),
        (
            "reproduce",
            CURRENT["reproduce"],
            METRICS | {"test": {"map": None}},
            MainMetric("map", "validation", 0.4),
        ),
    ],
)
def test_the_main_metric_is_that_of_early_stopping_or_the_first_requested(
    kind: str, spec: dict[str, Any], metrics: dict[str, Any] | None, found: MainMetric | None
) -> None:
    """Validation metrics have priority over test metrics, which no choice may use."""
    assert main_metric_of(kind, spec, metrics) == found


@pytest.mark.parametrize(
    ("kind", "folders"),
    [
        ("ingest", ["datasets/ds_1", "data/job_1-1", "data/job_1-2"]),
        ("ingest-clicks", [f"click-logs/clk_1/{part}" for part in ("upload", "job_1-1", "job_1-2")]),
        ("judge", ["data/job_1-1", "data/job_1-2"]),
        ("simulate-clicks", ["click-logs/clk_1/job_1-1", "click-logs/clk_1/job_1-2"]),
        ("propensity", []),
        ("import", ["runs/run_1"]),
        ("import-model", ["model-uploads/mup_1"]),
        ("train", ["checkpoints/job_1"]),
        ("reproduce", ["checkpoints/job_1"]),
        ("rank", []),
    ],
)
def test_a_job_names_the_artifacts_to_clean_up(kind: str, folders: list[str]) -> None:
    """Uploads, checkpoints and files of claims are named even if the specification cannot be parsed."""
    assert orphaned_artifacts(UnfinishedJob(kind, CURRENT[kind])) == folders
    assert set(orphaned_artifacts(UnfinishedJob(kind))) <= set(folders)


def test_jobs_of_unknown_kinds_are_left_to_a_later_release() -> None:
    """During an upgrade, workers of the previous release sweep jobs of the new release, too."""
    assert specification_of("dream") is JobSpec
    assert title_of("dream", {"name": "x"}) is None
    assert orphaned_artifacts(UnfinishedJob("dream", {"upload_id": "run_1"})) == []
