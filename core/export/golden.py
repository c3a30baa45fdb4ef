"""Golden vectors: documents with the scores that an engine must compute for them."""

import json
from collections.abc import Callable, Iterator

import numpy as np

from core.data import RankingDataset
from core.export.networks.cases import with_missing
from core.export.networks.export import E, ScoredExport
from core.export.networks.parity import without_excluded_values
from core.export.target import Export
from core.export.tree_target import TreeExport, inexpressible_part, scores_of
from core.scoring import Forest
from core.types import Float32Array, Float64Array

Score = Callable[[Float32Array], Float64Array]
_DATA_ROWS, _MISSING_ROWS, _EDGE_ROWS = 16, 8, 24  # documents; edge cases of forests are at thresholds
_SHARE_MISSING = 0.3


def golden_vectors(export: Export, dataset: RankingDataset | None = None) -> Iterator[str]:
    """Write golden vectors as lines of JSON.

    Each line has the `features` of a document by their names in the engine, null where missing. `score` is
    the score that the engine must compute. The score of the model is `lightgbm` for a forest, else `rankery`.

    Args:
        dataset: Judged documents in the model's order of features; without one, rows are synthetic.
    """
    if isinstance(export, ScoredExport):
        kinds, engine_scores, name = _scored_rows(export, dataset), export.engines[0].score, "rankery"
        model_scores: Score = export.source.model.score
    elif isinstance(export, TreeExport):
        kinds, engine_scores, name = _tree_rows(export, dataset), _tree_engine(export), "lightgbm"
        model_scores = Forest(export.source.text).score
    else:
        raise TypeError(type(export))
    rows = np.concatenate(list(kinds.values()))
    ids = [f"{kind}-{number}" for kind, part in kinds.items() for number in range(1, len(part) + 1)]
    scores = zip(engine_scores(rows).tolist(), model_scores(rows).tolist(), strict=True)
    for identifier, row, (score, model_score) in zip(ids, rows, scores, strict=True):
        features = {
            feature: None if np.isnan(value) else float(value)
            for feature, value in zip(export.source.features, row, strict=True)
        }
        yield json.dumps({"id": identifier, "features": features, "score": score, name: model_score}) + "\n"


def _scored_rows(export: ScoredExport[E], dataset: RankingDataset | None) -> dict[str, Float32Array]:
    random, engine = np.random.default_rng(0), export.engines[0]
    if dataset is None:
        name, base = "synthetic", export.synthetic(_EDGE_ROWS, random)
    else:
        name, base = "data", _documents(dataset)
    base = np.where(np.isinf(base), np.float32(0.0), base)  # JSON has no infinity
    kinds = {name: base[:_DATA_ROWS]}
    if not export.source.options.never_missing:
        kinds["missing"] = with_missing(base[:_MISSING_ROWS], random)
    edges = export.edge_cases(engine, base, random)
    kinds["edge"] = np.where(np.isinf(edges), base, edges)
    return {kind: without_excluded_values(export, engine, rows) for kind, rows in kinds.items()}


def _tree_rows(export: TreeExport, dataset: RankingDataset | None) -> dict[str, Float32Array]:
    random, source = np.random.default_rng(0), export.source
    n_features = len(source.features)
    name, base = "synthetic", random.normal(size=(_EDGE_ROWS, n_features)).astype(np.float32)
    if dataset is not None:
        name, base = "data", _documents(dataset)
        base = np.where(np.isinf(base), np.float32(0.0), base)  # JSON has no infinity
        if source.options.never_missing:
            base = np.where(np.isnan(base), np.float32(0.0), base)
    kinds = {name: base[:_DATA_ROWS]}
    if not source.options.never_missing:
        missing = random.random((_MISSING_ROWS, n_features)) < _SHARE_MISSING
        kinds["missing"] = np.where(missing, np.float32(np.nan), base[:_MISSING_ROWS])
    if not inexpressible_part(source.text):
        kinds["threshold"] = source.at_thresholds(base, random)
    return kinds


def _documents(dataset: RankingDataset) -> Float32Array:
    """Return the features of documents at even distances in the dataset."""
    chosen = np.linspace(0, dataset.n_documents - 1, _EDGE_ROWS).astype(np.int64)
    return dataset.features[chosen]


def _tree_engine(export: TreeExport) -> Score:
    """Return a scoring function with the arithmetic of the format's first engine."""
    if inexpressible_part(export.source.text):
        return Forest(export.source.text).score
    arithmetic = export.target.arithmetics(export.source.options)[0]
    loaded = arithmetic.loaded(export.written)
    return lambda rows: scores_of(rows, export.source.nodes, loaded, arithmetic)[1]
