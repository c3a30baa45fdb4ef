"""Parity of an export with its model, in the arithmetic of the engine that reads it.

The comparison evaluates the numbers that are read back from the written file.
"""

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from core.data import RankingDataset
from core.export.networks.export import ScoredExport
from core.export.networks.parity import score_parity
from core.export.nodes import Nodes
from core.export.parity_neighbours import compare_neighbours
from core.export.parity_report import DataParity, EngineParity, InexactThresholds, ParityReport
from core.export.ranking import compare_rankings
from core.export.target import Export
from core.export.thresholds import floor32
from core.export.tree_target import Arithmetic, TreeExport, TreeSource, inexpressible_part, scores_of
from core.types import Float64Array


def parity(export: Export, dataset: RankingDataset | None = None) -> ParityReport:
    """Compare an export with its model.

    A forest is compared on documents and on the neighbours of every threshold. Other models are compared on
    documents and edge cases.

    Args:
        dataset: Judged documents in the model's order of features; None to compare without documents.

    Raises:
        ModelError: The exported file cannot be read, or has other trees than the model.
    """
    if isinstance(export, ScoredExport):
        return score_parity(export, dataset)
    if isinstance(export, TreeExport):
        return _tree_parity(export, dataset)
    raise TypeError(type(export))


def _tree_parity(export: TreeExport, dataset: RankingDataset | None) -> ParityReport:
    source, target = export.source, export.target
    arithmetics = target.arithmetics(source.options)
    notes = target.notes(source, export.content)
    engines: list[EngineParity] = []
    if reason := inexpressible_part(source.text):
        notes.append(
            f"The file equals the stored model byte for byte. Nothing else is compared because of {reason}."
        )
    else:
        written = export.written
        notes += _notes(source, arithmetics)
        for arithmetic in arithmetics:
            loaded = arithmetic.loaded(written)
            engines.append(
                EngineParity(
                    arithmetic.engine,
                    arithmetic.description,
                    None if dataset is None else _data_parity(dataset, source.nodes, loaded, arithmetic),
                    compare_neighbours(source, loaded, arithmetic),
                    _inexact_thresholds(source.numeric_splits[0], loaded) if arithmetic.slack else None,
                )
            )
    for engine in engines:
        if (residue := engine.slack_residue) and residue.splits:
            notes.append(
                f"At {residue.splits:,} splits Solr's threshold plus 1e-6 cannot equal LightGBM's threshold:"
                f" values between these two, at most {residue.widest_range:.2g} apart, go to the other child."
                " The value 0 is not affected."
            )
    exact = not any(
        engine.neighbours.differing_decisions or (engine.data is not None and engine.data.differing_leaves)
        for engine in engines
    )
    trees = len(source.text.trees) + (source.shift is not None)
    return ParityReport(target.name, exact, trees, source.shift or 0.0, tuple(engines), tuple(notes))


def _notes(source: TreeSource, arithmetics: tuple[Arithmetic, ...]) -> Iterator[str]:
    n_infinite = np.count_nonzero(np.isinf(source.nodes.thresholds))
    if n_infinite and any(arithmetic.finite_only for arithmetic in arithmetics):
        yield (
            f"{n_infinite:,} splits separate missing values from all others by an infinite threshold. The"
            " export has the largest number instead, so that an infinite value goes to the same child as"
            " missing values."
        )
    if source.options.never_missing:
        yield (
            "never_missing is set: the direction of missing values is compared only for an engine that reads"
            " it from the split."
        )
    yield from source.rounding_notes(arithmetics)


def _data_parity(dataset: RankingDataset, nodes: Nodes, loaded: Nodes, arithmetic: Arithmetic) -> DataParity:
    scores, engine_scores, (leaves, documents) = scores_of(dataset.matrix, nodes, loaded, arithmetic)
    return DataParity(
        dataset.n_queries,
        dataset.n_documents,
        dataset.n_documents * len(nodes.roots),
        leaves,
        documents,
        **asdict(compare_rankings(dataset, scores, engine_scores)),
    )


def _inexact_thresholds(model_thresholds: Float64Array, loaded: Nodes) -> InexactThresholds:
    splits = loaded.splits
    thresholds, exact = loaded.thresholds[splits], floor32(model_thresholds[splits]).astype(np.float64)
    is_inexact = thresholds != exact
    return InexactThresholds(
        int(np.count_nonzero(is_inexact)),
        float(np.abs(thresholds[is_inexact] - exact[is_inexact]).max(initial=0.0)),
    )
