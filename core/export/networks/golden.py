"""Golden vectors of linear scorers and networks."""

import json
from collections.abc import Iterator

import numpy as np

from core.data import RankingDataset
from core.export.networks.cases import edge_cases, synthetic, with_missing
from core.export.networks.parity import allowed
from core.export.networks.target import NetworkExport
from core.types import Float32Array

_OF_DATA, _WITH_MISSING, _AT_EDGES = 16, 8, 24


def network_golden_vectors(export: NetworkExport, dataset: RankingDataset | None = None) -> Iterator[str]:
    """Write golden vectors as lines of JSON.

    Each has the `features` of a document by the engine's names, null where missing; `score`, which the engine
    must give it; and `rankery`, the model's own score of it.

    Args:
        export: The export.
        dataset: Judged documents in the model's order of features; without, rows are made up.
    """
    kinds = _rows(export, dataset)
    rows = np.concatenate(list(kinds.values()))
    names = [f"{kind}-{number}" for kind, part in kinds.items() for number in range(1, len(part) + 1)]
    scores, own = export.engines[0].score(rows), export.source.network.score(rows)
    for name, row, score, by_model in zip(names, rows, scores.tolist(), own.tolist(), strict=True):
        features = {
            feature: None if np.isnan(value) else float(value)
            for feature, value in zip(export.source.features, row, strict=True)
        }
        yield json.dumps({"id": name, "features": features, "score": score, "rankery": by_model}) + "\n"


def _rows(export: NetworkExport, dataset: RankingDataset | None) -> dict[str, Float32Array]:
    random, engine = np.random.default_rng(0), export.engines[0]
    if dataset is None:
        name, base = "synthetic", synthetic(export.source, _AT_EDGES, random)
    else:
        chosen = np.linspace(0, dataset.n_documents - 1, _AT_EDGES).astype(np.int64)
        name, base = "data", dataset.features[chosen]
    base = np.where(np.isinf(base), np.float32(0.0), base)  # JSON has no infinity
    kinds = {name: base[:_OF_DATA]}
    if not export.source.options.never_missing:
        kinds["missing"] = with_missing(base[:_WITH_MISSING], random)
    edges = edge_cases(export.source, engine, base, random)
    kinds["edge"] = np.where(np.isinf(edges), base, edges)
    return {kind: allowed(export, engine, rows) for kind, rows in kinds.items()}
