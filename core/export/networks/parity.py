"""Parity of exported linear scorers, networks and sums with their models.

The scores of documents and of edge cases are compared. A score differs if its distance from the model's
exceeds the bound of rounding errors. The trees of a sum are compared at every threshold, too.
"""

from dataclasses import asdict

import numpy as np

from core.data import RankingDataset
from core.errors import ModelError
from core.export.networks.cases import with_missing
from core.export.networks.export import E, ScoredExport
from core.export.networks.target import Engine
from core.export.parity_report import DataParity, EdgeParity, NetworkEngineParity, NetworkParityReport
from core.export.ranking import compare_rankings
from core.types import Float32Array, Float64Array

_EDGE_CASES = 512


def score_parity(export: ScoredExport[E], dataset: RankingDataset | None = None) -> NetworkParityReport:
    """Compare an export with its model over documents and over edge cases.

    Args:
        dataset: Judged documents in the model's order of features; None to compare edge cases only.

    Raises:
        ModelError: The written file cannot be read, or an engine computes scores that are not finite.
    """
    source, target = export.source, export.target
    engines = tuple(
        NetworkEngineParity(
            engine.name,
            engine.arithmetic,
            None if dataset is None else _data_parity(dataset, export, engine),
            export.neighbours(engine),
            None,
            _edge_parity(export, engine),
        )
        for engine in export.engines
    )
    exact = not any(
        engine.edge_cases.differing_documents
        or engine.neighbours.differing_decisions
        or (engine.data is not None and engine.data.differing_documents)
        for engine in engines
    )
    notes = (*target.notes(source, export.content), *export.notes())
    shift, kind = source.shift or 0.0, source.model.kind
    return NetworkParityReport(target.name, exact, export.n_trees, shift, engines, notes, kind)


def without_excluded_values(export: ScoredExport[E], engine: Engine, rows: Float32Array) -> Float32Array:
    """Return rows with 0 in place of the values for which the engine does not guarantee parity."""
    if engine.finite_only:
        rows = np.where(np.isinf(rows), np.float32(0.0), rows)
    if export.source.options.never_missing:
        rows = np.where(np.isfinite(rows), rows, np.float32(0.0))
    return np.ascontiguousarray(rows, np.float32)


def _data_parity(dataset: RankingDataset, export: ScoredExport[E], engine: E) -> DataParity:
    scores, engine_scores, differing = _scored(export, engine, dataset.matrix)
    return DataParity(
        dataset.n_queries,
        dataset.n_documents,
        0,
        0,
        differing,
        **asdict(compare_rankings(dataset, scores, engine_scores)),
    )


def _edge_parity(export: ScoredExport[E], engine: E) -> EdgeParity:
    random = np.random.default_rng(0)
    base = export.synthetic(_EDGE_CASES, random)
    rows = export.edge_cases(engine, base, random)
    rows[::2] = with_missing(rows[::2], random)
    scores, engine_scores, differing = _scored(export, engine, rows)
    distances = np.abs(engine_scores - scores)
    relative = distances / np.maximum(1.0, np.abs(scores))
    return EdgeParity(len(rows), differing, float(distances.max()), float(relative.max()))


def _scored(export: ScoredExport[E], engine: E, rows: Float32Array) -> tuple[Float64Array, Float64Array, int]:
    """Score documents by the model and by the engine; return both, and the number of differences."""
    rows = without_excluded_values(export, engine, rows)
    scores = export.source.model.score(rows) + (export.source.shift or 0.0)
    engine_scores = engine.score(rows)
    if not np.isfinite(engine_scores).all():
        raise ModelError(
            f"{engine.name} computes scores that are not finite: features times weights exceed the range of"
            " its numbers. Train with inputs=standard, or export the model as onnx, c or python"
        )
    # A bound of NaN counts as a difference.
    differing = ~(np.abs(engine_scores - scores) <= export.rounding_bounds(engine, rows))
    return scores, engine_scores, int(np.count_nonzero(differing))
