"""Plan a stored experiment: its runs, its recognised data, and the runs that a dry run measures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from core.doctor.corpora import Counts, Recognition, recognise
from core.experiments import PAPERS, Plan, Run, plan
from core.experiments.paper import MAIN, Scale
from core.store import Experiment, Transaction

MEASURED_ITERATIONS = 5  # trees or epochs
# Interval of the diagnostics, so that a measured training has them once.
_MEASURED_INTERVAL = 3
# Corpora for which papers print results of the first fold only.
_FIRST_FOLD = frozenset({"MSLR-WEB10K", "MSLR-WEB30K"})


def plan_of(experiment: Experiment) -> Plan:
    """Return the plan of an experiment.

    Raises:
        InvalidInput: The paper has no such tables or corpus.
    """
    tables = None if experiment.tables is None else tuple(experiment.tables)
    return _plan(experiment.paper, tables, experiment.scale, experiment.data, experiment.corpus)


@lru_cache(maxsize=8)
def _plan(paper: str, tables: tuple[str, ...] | None, scale: Scale, data: str, corpus: str | None) -> Plan:
    return plan(paper, tables, scale, data, corpus)


def recognitions(tx: Transaction, experiment: Experiment) -> dict[int, Recognition]:
    """Compare the counts of a user's data with those in papers, by fold; empty for synthetic data.

    Raises:
        NotFound: A dataset was deleted.
    """
    if experiment.data != "folder":
        return {}
    counts: dict[int, dict[str, Counts]] = {}
    folders: dict[int, str | None] = {}
    for each in experiment.datasets:
        row = tx.datasets.get(each["dataset_id"])
        if each["name"] == MAIN and row.statistics is not None:
            counts.setdefault(each["fold"], {})[each["part"]] = _counts(row.statistics)
            folders[each["fold"]] = row.source.get("folder")
    return {fold: recognise(parts, folders[fold]) for fold, parts in counts.items()}


def corpus_of(paper: str, recognised_folds: Mapping[int, Recognition]) -> str | None:
    """Return the corpus of a paper that the counts of all folds match, or None."""
    corpora = {
        recognised.corpus if recognised.as_printed else None for recognised in recognised_folds.values()
    }
    corpus = corpora.pop() if len(corpora) == 1 else None
    return corpus if corpus in PAPERS[paper].corpora else None


def corpus_notes(experiment: Experiment, recognised_folds: Mapping[int, Recognition]) -> list[str]:
    """Return the notes on a user's data for the report."""
    notes = list(dict.fromkeys(recognised.sentence for recognised in recognised_folds.values()))
    folds = sorted(
        {recognised.fold for recognised in recognised_folds.values() if recognised.fold is not None}
    )
    if experiment.corpus in _FIRST_FOLD and folds not in ([], [1]):
        numbers = ", ".join(map(str, folds))
        notes.append(
            f"The paper's numbers are for Fold1 of {experiment.corpus}; for fold {numbers} they are for"
            " orientation only."
        )
    return notes


def _counts(statistics: Mapping[str, Any]) -> Counts:
    largest = (statistics.get("label_range") or {}).get("maximum")
    names = ("queries", "documents", "features")
    queries, documents, features = (int(statistics.get(name) or 0) for name in names)
    return Counts(queries, documents, features, largest)


def measured_runs(planned: Plan) -> Mapping[str, tuple[Run, Sequence[Run]]]:
    """Choose the runs that a dry run measures.

    Runs of one loss and kind of scorer on one dataset take similar time. Among them, the run with the most
    leaves is measured, so that the estimate is an upper bound.

    Returns:
        By digest: a run with five trees or epochs, and the runs of the plan that it represents.
    """
    groups: dict[str, list[Run]] = {}
    for run in planned.runs.values():
        loss = sorted(run.spec["loss"].items(), key=str)
        decisive = (run.data, loss, "diagnostics" in run.spec, _architecture(run))
        groups.setdefault(str(decisive), []).append(run)
    return MappingProxyType(
        {
            costliest.digest: (_shortened(costliest), runs)
            for runs in groups.values()
            for costliest in [max(runs, key=leaves_of)]
        }
    )


def _architecture(run: Run) -> list[tuple[str, Any]]:
    """Return the fields that determine the time of an epoch of a network; empty for trees."""
    scorer = run.spec.get("scorer", {})
    return [(name, scorer[name]) for name in ("kind", "hidden", "batch_documents") if name in scorer]


def leaves_of(run: Run) -> int:
    """Return the most leaves of a tree of a run, 0 for a network."""
    if run.is_network:
        return 0
    return int(run.spec["hyperparameters"].get("num_leaves") or 31)


def _shortened(run: Run) -> Run:
    shorter = run.with_iterations(MEASURED_ITERATIONS)
    spec = {name: value for name, value in shorter.spec.items() if name != "early_stopping"}
    if "diagnostics" in spec:
        spec["diagnostics"] = {**spec["diagnostics"], "interval": _MEASURED_INTERVAL}
    return replace(shorter, spec=spec, parts=())
