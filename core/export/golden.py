"""Golden vectors: documents with the score that the engine must give them."""

import json
from collections.abc import Iterator

import numpy as np

from core.data import RankingDataset
from core.export.export import Export
from core.export.networks import NetworkExport
from core.export.networks.golden import network_golden_vectors
from core.export.parity import scores_of
from core.export.thresholds import floor32
from core.export.tree_export import TreeExport
from core.export.tree_target import unplain
from core.scoring import Forest
from core.types import Float32Array, Float64Array

_OF_DATA, _WITH_MISSING, _AT_THRESHOLDS = 16, 8, 24
_SHARE_MISSING = 0.3


def golden_vectors(export: Export, dataset: RankingDataset | None = None) -> Iterator[str]:
    """Write golden vectors as lines of JSON.

    Each has the `features` of a document by the engine's names, null where missing; `score`, which the engine
    must give it; and the model's own score of it, as `lightgbm` of a forest, as `rankery` of a network.

    Args:
        export: The export.
        dataset: Judged documents in the model's order of features; without, rows are made up.
    """
    if isinstance(export, NetworkExport):
        return network_golden_vectors(export, dataset)
    if isinstance(export, TreeExport):
        return _tree_golden_vectors(export, dataset)
    raise TypeError(type(export))


def _tree_golden_vectors(export: TreeExport, dataset: RankingDataset | None) -> Iterator[str]:
    random = np.random.default_rng(0)
    kinds = _rows(export, dataset, random)
    rows = np.concatenate(list(kinds.values()))
    names = [f"{kind}-{number}" for kind, part in kinds.items() for number in range(1, len(part) + 1)]
    scores = _engine_scores(export, rows)
    by_lightgbm = Forest(export.source.text).score(rows)
    for name, row, score, own in zip(names, rows, scores.tolist(), by_lightgbm.tolist(), strict=True):
        features = {
            feature: None if np.isnan(value) else float(value)
            for feature, value in zip(export.source.features, row, strict=True)
        }
        yield json.dumps({"id": name, "features": features, "score": score, "lightgbm": own}) + "\n"


def _rows(
    export: TreeExport, dataset: RankingDataset | None, random: np.random.Generator
) -> dict[str, Float32Array]:
    source = export.source
    n_features = len(source.features)
    kinds: dict[str, Float32Array] = {}
    base = random.normal(size=(_AT_THRESHOLDS, n_features)).astype(np.float32)
    if dataset is None:
        kinds["synthetic"] = base[:_OF_DATA]
    else:
        chosen = np.linspace(0, dataset.n_documents - 1, _AT_THRESHOLDS).astype(np.int64)
        base = dataset.features[chosen]
        base = np.where(np.isinf(base), np.float32(0.0), base)  # JSON has no infinity
        if source.options.never_missing:
            base = np.where(np.isnan(base), np.float32(0.0), base)
        kinds["data"] = base[:: _AT_THRESHOLDS // _OF_DATA][:_OF_DATA]
    if not source.options.never_missing:
        missing = random.random((_WITH_MISSING, n_features)) < _SHARE_MISSING
        kinds["missing"] = np.where(missing, np.float32(np.nan), base[:_WITH_MISSING])
    if not unplain(source.text):
        kinds["threshold"] = _at_thresholds(export, base, random)
    return kinds


def _at_thresholds(export: TreeExport, base: Float32Array, random: np.random.Generator) -> Float32Array:
    """Put a threshold, or the value right below or above it, into each used feature."""
    nodes = export.source.nodes
    splits = nodes.splits[np.argsort(nodes.features[nodes.splits], kind="stable")]
    used, first, counts = np.unique(nodes.features[splits], return_index=True, return_counts=True)
    rows = base.copy()
    for row in rows:
        chosen = splits[first + random.integers(counts)]
        with np.errstate(over="ignore", under="ignore"):
            thresholds = floor32(nodes.thresholds[chosen])
            directions = random.choice([-np.inf, 0.0, np.inf], size=len(used)).astype(np.float32)
            values = np.where(directions == 0.0, thresholds, np.nextafter(thresholds, directions))
        finite = np.isfinite(values)
        row[used[finite]] = values[finite]
    return rows


def _engine_scores(export: TreeExport, rows: Float32Array) -> Float64Array:
    if unplain(export.source.text):
        return Forest(export.source.text).score(rows)
    arithmetic = export.target.arithmetics(export.source.options)[0]
    loaded = arithmetic.loaded(export.written)
    _, scores, _ = scores_of(rows, export.source.nodes, loaded, arithmetic)
    return scores
