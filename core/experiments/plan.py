"""Plan the trainings that the tables of a paper need."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, get_args

from core.errors import InvalidInput
from core.experiments.paper import (
    MAIN,
    SCALES,
    Entry,
    Epochs,
    EpochTiming,
    Method,
    Paper,
    Part,
    Protocol,
    Scale,
    Table,
)
from core.experiments.registry import paper as paper_of

SEED = 42
_MODEL_INPUTS = (
    "loss",
    "hyperparameters",
    "early_stopping",
    "label_map",
    "contract",
    "seed",
    "metric_interval",
)


@dataclass(frozen=True)
class Run:
    """A training that one or several cells of tables need.

    Attributes:
        digest: Result of `spec_digest`; runs with the same digest are one training.
        spec: Body of a training request without dataset ids and `model_name`.
        parts: Parts of the data whose per-query values are needed.
    """

    digest: str
    spec: Mapping[str, Any]
    parts: tuple[Part, ...]

    @property
    def is_network(self) -> bool:
        """Return whether the iterations are epochs of a network instead of trees."""
        return "scorer" in self.spec

    @property
    def iterations(self) -> int:
        """Return the maximum number of trees, or of epochs of a network."""
        if self.is_network:
            return int(self.spec["scorer"]["epochs"])
        return int(self.spec["hyperparameters"]["num_iterations"])

    def with_iterations(self, iterations: int) -> "Run":
        """Return the run with another maximum number of iterations."""
        part, name = ("scorer", "epochs") if self.is_network else ("hyperparameters", "num_iterations")
        return replace(self, spec={**self.spec, part: {**self.spec[part], name: iterations}})


@dataclass(frozen=True)
class Cell:
    """A cell of a table, and the trainings that its number needs.

    Attributes:
        runs: Digests of the candidate trainings, of which validation picks one.
        selection: Validation metric that picks the candidate.
        timings: Epochs that the report times.
    """

    table: str
    row: str
    column: str
    runs: tuple[str, ...]
    entry: Entry
    selection: str
    timings: tuple[EpochTiming, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Everything to train and measure for some tables of a paper.

    Attributes:
        scale: `quick` or `paper`.
        data: `synthetic`, `sparse` or `folder`.
        corpus: The corpus whose hyperparameters and printed numbers are used.
        as_printed: Whether the data has as many queries and documents as that corpus; if not, printed
            numbers are only a rough comparison.
        synthetic: Bodies of requests of `POST /v1/datasets/synthetic` by part, without names; empty for a
            user's data, and without trainings.
        runs: Trainings by digest.
    """

    paper: Paper
    tables: tuple[Table, ...]
    scale: Scale
    data: str
    corpus: str
    as_printed: bool
    synthetic: Mapping[Part, Mapping[str, Any]]
    runs: Mapping[str, Run]
    cells: tuple[Cell, ...]

    @property
    def trees(self) -> int:
        """Return the maximum number of trees of all trainings together."""
        return sum(run.iterations for run in self.runs.values() if not run.is_network)

    @property
    def epochs(self) -> int:
        """Return the maximum number of epochs of all networks together."""
        return sum(run.iterations for run in self.runs.values() if run.is_network)

    @property
    def sizes(self) -> str:
        """Return a phrase with the number of trainings and their maximum numbers of trees and epochs."""
        return sizes_in_words(len(self.runs), self.trees, self.epochs)

    @property
    def timings(self) -> tuple[EpochTiming, ...]:
        """Return the epochs that the report times, without duplicates."""
        return tuple(dict.fromkeys(timing for cell in self.cells for timing in cell.timings))


def sizes_in_words(runs: int, trees: int, epochs: int) -> str:
    """Return numbers of trainings, trees and epochs in words.

    Example:
        >>> sizes_in_words(16, 3260, 600)
        '16 trainings of 3,260 trees and 600 epochs at most'
    """
    parts = [f"{count:,} {unit}" for count, unit in ((trees, "trees"), (epochs, "epochs")) if count]
    trainings = f"{runs:,} training{'' if runs == 1 else 's'}"
    return f"{trainings} of {' and '.join(parts) or 'nothing'} at most"


def plan(
    paper: Paper | str,
    tables: Sequence[str] | None = None,
    scale: Scale = "quick",
    data: str | None = None,
    corpus: str | None = None,
) -> Plan:
    """Plan the trainings for a paper's tables; equal trainings are planned once for all tables.

    Args:
        tables: Names of tables; all when None.
        scale: `paper` for the paper's protocol, `quick` for fewer trees and grid points.
        data: `synthetic` or `sparse` for synthetic data, `folder` for a user's; None for the paper's default.
        corpus: The corpus that a user's data was recognised as; None if it is not a corpus of the paper.

    Raises:
        InvalidInput: For an unknown paper, table, scale, corpus or kind of data.

    Example:
        >>> len(plan("lambda-ex-2023", ["table-5"]).runs)
        48
    """
    chosen_paper = paper_of(paper) if isinstance(paper, str) else paper
    chosen_tables = _tables(chosen_paper, tables)
    source = data or chosen_paper.data
    if scale not in SCALES:
        raise InvalidInput.at("/scale", f"must be one of {', '.join(SCALES)}")
    if corpus is not None and corpus not in chosen_paper.corpora:
        raise InvalidInput.at("/corpus", f"must be one of {', '.join(chosen_paper.corpora)}")
    synthetic = _synthetic(chosen_paper, scale, source)
    printed_corpus = corpus or chosen_paper.printed_corpus_by_source.get(source) or chosen_paper.corpora[0]
    content = json.dumps(synthetic, sort_keys=True, default=dict) if synthetic else source
    builder = _Builder(scale, printed_corpus, f"{MAIN}: {content}", as_printed=corpus is not None)
    cells = tuple(builder.cells(chosen_tables))
    return Plan(
        paper=chosen_paper,
        tables=chosen_tables,
        scale=scale,
        data=source,
        corpus=printed_corpus,
        as_printed=corpus is not None,
        synthetic=MappingProxyType(synthetic if builder.runs else {}),
        runs=MappingProxyType(builder.runs),
        cells=cells,
    )


def spec_digest(spec: Mapping[str, Any], data: Mapping[str, Any] | str) -> str:
    """Return the SHA-256 of a model's inputs: data, loss, labels, seed, and all options that affect it."""
    inputs = {name: spec.get(name) for name in _MODEL_INPUTS} | {
        "selection": spec["metrics"][0],
        "data": data,
    }
    if "scorer" in spec:  # so that digests for trees equal those of releases without networks
        inputs["scorer"] = spec["scorer"]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=dict).encode()).hexdigest()


def _tables(paper: Paper, names: Sequence[str] | None) -> tuple[Table, ...]:
    if names is None:
        return paper.tables
    tables = {table.name: table for table in paper.tables}
    for index, name in enumerate(names):
        if name not in tables:
            raise InvalidInput.at(
                f"/tables/{index}", f"unknown table {name!r}; known are {', '.join(tables)}"
            )
    return tuple(tables[name] for name in dict.fromkeys(names))


def _synthetic(paper: Paper, scale: Scale, source: str) -> dict[Part, Mapping[str, Any]]:
    if source == "folder":
        return {}
    sizes = paper.sizes[scale].get(source)
    if sizes is None:
        raise InvalidInput.at("/data", "must be synthetic, sparse or folder")
    return {
        part: {"queries": queries, "seed": seed, **sizes.parameters}
        for seed, (part, queries) in enumerate(zip(get_args(Part), sizes.queries, strict=True), start=1)
    }


class _Builder:
    """Collects the runs that the cells of tables need.

    Args:
        data: Description of the data for digests.
    """

    def __init__(self, scale: Scale, corpus: str, data: str, *, as_printed: bool) -> None:
        self._scale = scale
        self._as_printed = as_printed
        self._corpus = corpus
        self._data = data
        self.runs: dict[str, Run] = {}

    def cells(self, tables: Iterable[Table]) -> Iterator[Cell]:
        for table in tables:
            for entry in table.entries:
                specs = self._specs(entry, table.protocol)
                digests = tuple(self._add(spec, entry) for spec in specs)
                selection = entry.selection or table.protocol.selection
                timings = entry.timings.get(self._scale, ())
                yield Cell(table.name, entry.row, entry.column, digests, entry, selection, timings)

    def _add(self, spec: Mapping[str, Any], entry: Entry) -> str:
        """Add a run for an entry, or extend the run of the same digest; return the digest."""
        digest = spec_digest(spec, self._data)
        parts = (entry.part,) if entry.measure == "mean" else ()
        if (same := self.runs.get(digest)) is not None:
            spec, parts = _merged(same.spec, spec), (*same.parts, *parts)
        self.runs[digest] = Run(digest, spec, tuple(dict.fromkeys(parts)))
        return digest

    def _specs(self, entry: Entry, protocol: Protocol) -> list[dict[str, Any]]:
        method = entry.method
        if method is None or method.loss is None:
            return []
        selection = entry.selection or protocol.selection
        specs = []
        for change in self._grid(method):
            spec: dict[str, Any] = {
                "kind": "train",
                "priority": "low",
                "loss": {**method.loss, **method.loss_by_corpus.get(self._corpus, {})},
                **self._scorer(method, protocol, change),
                "metrics": list(dict.fromkeys((selection, *protocol.metrics))),
                "contract": protocol.contract,
                "seed": SEED,
                "label_map": dict(entry.label_map),
            }
            schedule = _epochs(protocol) if method.is_network else protocol
            spec["metric_interval"] = schedule.metric_interval
            if schedule.early_stopping:
                spec["early_stopping"] = {"metric": selection, "rounds": schedule.early_stopping}
            if entry.diagnostics:
                diagnostics = entry.diagnostics
                interval = diagnostics.quick_interval if self._is_quick else diagnostics.interval
                spec["diagnostics"] = {"interval": interval, "cutoff": diagnostics.cutoff}
            specs.append(spec)
        return specs

    def _scorer(self, method: Method, protocol: Protocol, change: Mapping[str, Any]) -> dict[str, Any]:
        """Return the scorer and the hyperparameters of a grid point."""
        changes = {**(method.quick if self._is_quick else method.by_corpus.get(self._corpus, {})), **change}
        if method.is_network:
            schedule = _epochs(protocol)
            epochs = schedule.quick_epochs if self._is_quick else schedule.epochs
            return {"hyperparameters": {}, "scorer": {**method.scorer, **changes, "epochs": epochs}}
        trees = protocol.quick_trees if self._is_quick else protocol.trees
        return {"hyperparameters": {**method.hyperparameters, **changes, "num_iterations": trees}}

    @property
    def _is_quick(self) -> bool:
        return self._scale == "quick"

    def _grid(self, method: Method) -> Sequence[Mapping[str, Any]]:
        if self._is_quick:
            return method.quick_grid or ({},)
        # Printed hyperparameters were tuned on that corpus, so other data needs the grid.
        printed = self._as_printed and self._corpus in method.by_corpus
        return ({},) if printed else method.grid or ({},)


def _epochs(protocol: Protocol) -> Epochs:
    if protocol.networks is None:
        raise TypeError("the protocol has no epochs for its networks")
    return protocol.networks


def _merged(earlier: Mapping[str, Any], spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merge the metrics and diagnostics of two specifications, which do not affect the model."""
    merged = dict(earlier)
    merged["metrics"] = list(dict.fromkeys((*earlier["metrics"], *spec["metrics"])))
    if "diagnostics" in spec:
        merged["diagnostics"] = spec["diagnostics"]
    return merged
