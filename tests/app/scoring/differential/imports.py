"""Models that LightGBM saved, scored by requests of every form and by `Booster.predict`."""

import json
import math
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pyarrow as pa

from app.scoring.tables import MEDIA_TYPE
from app.scoring.tensors import HEAD_BYTES
from core.data import RankingDataset
from core.types import Float64Array
from tests.app.scoring.differential.requests import Sent
from tests.app.scoring.differential.served import Served
from worker.job.systems import load_model

N_DOCUMENTS, N_FEATURES = 300, 6
CATEGORY = N_FEATURES - 1  # the column that may be a category
_N_CATEGORIES = 4
_CATEGORIES: Mapping[str, tuple[str | int, ...]] = MappingProxyType(
    {"text": ("acme", "zenith", "größe", "7 of 9"), "whole number": (7, 1001, 30, 4)}
)
_STEPS = (-math.inf, 0, math.inf)


@dataclass(frozen=True, eq=False)
class ImportedModel:
    """A model of LightGBM, and the categories of its last column.

    Attributes:
        name: Name of the stored model.
        booster: The model.
        categories: Categories of the last column by code; empty if requests have numbers or codes in it.
    """

    name: str
    booster: lightgbm.Booster
    categories: tuple[str | int, ...]

    @property
    def names(self) -> list[str]:
        """The features in the model's order."""
        return list(self.booster.feature_name())

    def cells(self, row: Sequence[float], *, by_name: bool) -> list[Any]:
        """Return the features of a document as they are sent: None where missing, categories by value.

        If a form has one type for all features, whole numbers are sent as values and texts as codes.
        """
        cells: list[Any] = [None if math.isnan(value) else value for value in row]
        code = cells[CATEGORY]
        if self.categories and code is not None and (by_name or not isinstance(self.categories[0], str)):
            cells[CATEGORY] = self.categories[int(code)]
        return cells


def drawn_model(seed: int) -> ImportedModel:
    """Train a small model with options of boosting, missing values, categories and leaves by seed."""
    generator = random.Random(seed)
    kind = ("number", "code", "text", "whole number")[seed % 4]
    parameters: dict[str, Any] = {
        "verbosity": -1,
        "num_threads": 1,
        "seed": seed,
        "min_data_in_leaf": 5,
        "num_iterations": 6,
        "boosting": generator.choice(("gbdt", "gbdt", "dart", "rf")),
        "objective": generator.choice(("lambdarank", "rank_xendcg", "regression", "l1", "binary", "poisson")),
        "num_leaves": generator.choice((2, 7, 31)),
        "use_missing": generator.random() < 0.7,
        "zero_as_missing": generator.random() < 0.3,
        "linear_tree": generator.random() < 0.3,
        "extra_trees": generator.random() < 0.2,
        "max_bin": generator.choice((4, 255)),
        "enable_bundle": generator.random() < 0.5,
        "max_cat_to_onehot": generator.choice((1, 4)),
        "min_data_per_group": 2,
        "cat_smooth": 1.0,
        "path_smooth": generator.choice((0.0, 1.0)),
    }
    if parameters["boosting"] == "rf":
        parameters |= {"bagging_freq": 1, "bagging_fraction": 0.6}
    elif generator.random() < 0.3:
        parameters["data_sample_strategy"] = "goss"
    if parameters["linear_tree"]:  # LightGBM refuses `zero_as_missing` and `l1` with linear trees
        parameters["zero_as_missing"] = False
        parameters["objective"] = parameters["objective"].replace("l1", "regression")
    features = _features(np.random.default_rng(seed), kind)
    labels = (np.nan_to_num(features) @ np.array([1, -1, 0.5, 1e30, 2, 0.3]) > 0.5).astype(float)
    labels += np.floor(np.nan_to_num(features[:, CATEGORY])) % 2
    if parameters["objective"] == "binary":
        labels = np.minimum(labels, 1)
    categories = _CATEGORIES.get(kind, ())
    data: Any = features
    if categories:
        data = pd.DataFrame(features, columns=[f"f{column}" for column in range(N_FEATURES)])
        codes = np.nan_to_num(features[:, CATEGORY], nan=-1).astype(int)
        data[f"f{CATEGORY}"] = pd.Categorical.from_codes(codes, pd.Index(categories))
    is_ranking = parameters["objective"] in ("lambdarank", "rank_xendcg")
    dataset = lightgbm.Dataset(
        data,
        labels,
        group=[10] * (N_DOCUMENTS // 10) if is_ranking else None,
        categorical_feature=[CATEGORY] if kind == "code" else "auto",
    )
    sends_codes = kind == "text" and seed % 8 > 4
    booster = lightgbm.train(parameters, dataset)
    return ImportedModel(f"saved-{seed}", booster, () if sends_codes else categories)


def _features(generator: np.random.Generator, kind: str) -> Float64Array:
    features = generator.normal(size=(N_DOCUMENTS, N_FEATURES))
    features[:, 1] = np.round(features[:, 1])
    features[:, 2] *= generator.random(N_DOCUMENTS) < 0.2
    features[:, 3] *= 1e-34  # close to 1e-35, below which LightGBM treats a value as 0
    features[:, :4][generator.random((N_DOCUMENTS, 4)) < 0.1] = np.nan
    if kind != "number":
        features[:, CATEGORY] = generator.integers(_N_CATEGORIES, size=N_DOCUMENTS)
        features[generator.random(N_DOCUMENTS) < 0.1, CATEGORY] = np.nan
    return features


def drawn_rows(model: ImportedModel, n_rows: int, seed: int) -> Float64Array:
    """Draw documents within a step of float64 or float32 of the model's thresholds, and odd ones."""
    generator = random.Random(seed)
    thresholds: dict[int, list[float]] = {column: [0.0] for column in range(N_FEATURES)}
    for block in model.booster.model_to_string().split("\nTree=")[1:]:
        lines = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        pairs = zip(lines.get("split_feature", "").split(), lines.get("threshold", "").split(), strict=True)
        for column, threshold in pairs:
            if math.isfinite(float(threshold)):
                thresholds[int(column)].append(float(threshold))
    rows = [[_near(thresholds[column], generator) for column in range(N_FEATURES)] for _ in range(n_rows)]
    if model.categories:
        for row in rows:
            row[CATEGORY] = generator.choice((math.nan, *range(len(model.categories))))
    return np.array(rows)


def _near(thresholds: Sequence[float], generator: random.Random) -> float:
    threshold = generator.choice(thresholds)
    match generator.randrange(8):
        case 0:
            return generator.choice((math.nan, 0.0, -0.0, 1e-36, -1e-36, 1e-35, 1e30, -1e30, 2.7, -0.5))
        case 1:
            return generator.gauss(0, 1)
        case 2 | 3:
            return float(np.nextafter(np.float32(threshold), np.float32(generator.choice(_STEPS))))
        case _:
            return float(np.nextafter(threshold, generator.choice((*_STEPS, threshold))))


def lightgbm_scores(model: ImportedModel, rows: Float64Array) -> Float64Array:
    """Return LightGBM's raw scores of documents."""
    return np.asarray(model.booster.predict(rows, raw_score=True, num_threads=1), np.float64)


async def _json(served: Served, model: ImportedModel, documents: Sequence[str]) -> Float64Array:
    listed = ",".join(f'{{"id":"{row}","features":{text}}}' for row, text in enumerate(documents))
    body = f'{{"queries":[{{"id":"q","documents":[{listed}]}}]}}'
    answer = await served.send(
        Sent(f"/v1/models/{model.name}/rank", body.encode(), {"content-type": "application/json"})
    )
    (query,) = json.loads(answer.content)["queries"]
    scores = {int(document["id"]): document["score"] for document in query["ranking"]}
    return np.array([scores[row] for row in range(len(documents))])


async def _by_name(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    cells = [model.cells(row, by_name=True) for row in rows.tolist()]
    features = [dict(zip(model.names, each, strict=True)) for each in cells]
    return await _json(served, model, [json.dumps(document) for document in features])


async def _array(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    cells = [model.cells(row, by_name=True) for row in rows.tolist()]
    return await _json(served, model, [json.dumps(each) for each in cells])


async def _all_digits(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    """Send all decimal digits of each number, which the fast path leaves to the slow one."""

    def spelled(value: Any) -> str:
        return str(Decimal(value)) if isinstance(value, float) else json.dumps(value)

    cells = [model.cells(row, by_name=True) for row in rows.tolist()]
    return await _json(served, model, [f"[{','.join(map(spelled, each))}]" for each in cells])


async def _arrow(served: Served, model: ImportedModel, table: pa.Table) -> Float64Array:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    answer = await served.send(
        Sent(f"/v1/models/{model.name}/rank", sink.getvalue().to_pybytes(), {"content-type": MEDIA_TYPE})
    )
    ranked = pa.ipc.open_stream(answer.content).read_all()
    scores = np.empty(len(table))
    scores[ranked.column("row").to_numpy()] = ranked.column("score").to_numpy()
    return scores


async def _columns(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    cells = [model.cells(row, by_name=True) for row in rows.tolist()]
    columns = list(map(list, zip(*cells, strict=True)))
    return await _arrow(served, model, pa.table(dict(zip(model.names, map(pa.array, columns), strict=True))))


async def _lists(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    lists = pa.array(_plain(model, rows), pa.list_(pa.float64(), N_FEATURES))
    return await _arrow(served, model, pa.table({"features": lists}))


async def _infer(
    served: Served, model: ImportedModel, inputs: Sequence[Mapping[str, Any]], data: bytes = b""
) -> Float64Array:
    head = json.dumps({"inputs": inputs}).encode()
    headers = {HEAD_BYTES.lower(): str(len(head))} if data else {"content-type": "application/json"}
    answer = await served.send(Sent(f"/v2/models/{model.name}/infer", head + data, headers))
    return np.array(json.loads(answer.content)["outputs"][0]["data"], np.float64)


async def _tensor(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    data = [value for row in _plain(model, rows) for value in row]
    return await _infer(
        served, model, [{"name": "features", "shape": list(rows.shape), "datatype": "FP64", "data": data}]
    )


async def _tensors(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    columns = zip(*_plain(model, rows), strict=True)
    inputs = [
        {"name": name, "shape": [len(rows)], "datatype": "FP64", "data": column}
        for name, column in zip(model.names, columns, strict=True)
    ]
    return await _infer(served, model, inputs)


def _binary(datatype: str, dtype: str) -> "Form":
    async def form(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
        data = np.array(_plain(model, rows), dtype).tobytes()
        tensor = {"name": "features", "shape": list(rows.shape), "datatype": datatype}
        return await _infer(served, model, [tensor | {"parameters": {"binary_data_size": len(data)}}], data)

    return form


async def _single(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    data = [value for row in _plain(model, rows) for value in row]
    return await _infer(
        served, model, [{"name": "features", "shape": list(rows.shape), "datatype": "FP32", "data": data}]
    )


async def _batch(served: Served, model: ImportedModel, rows: Float64Array) -> Float64Array:
    """Score as jobs score a dataset, which holds float32."""
    loaded = load_model(served.store, (await served.model(model.name)).id)
    dataset = RankingDataset.from_arrays(
        rows.astype(np.float32), np.zeros(len(rows)), np.array([0, len(rows)]), feature_names=model.names
    )
    return loaded.scorer.score(dataset.features)


def _plain(model: ImportedModel, rows: Float64Array) -> list[list[float | None]]:
    return [model.cells(row, by_name=False) for row in rows.tolist()]


Form = Callable[[Served, ImportedModel, Float64Array], Awaitable[Float64Array]]

# Forms that carry float64: LightGBM scores the same float64 values.
DOUBLE: Mapping[str, Form] = MappingProxyType(
    {
        "JSON by name": _by_name,
        "JSON by array": _array,
        "JSON with all digits": _all_digits,
        "Arrow columns": _columns,
        "Arrow lists": _lists,
        "tensor as JSON": _tensor,
        "tensors by name": _tensors,
        "tensor as bytes": _binary("FP64", "<f8"),
    }
)
SINGLE: Mapping[str, Form] = MappingProxyType(
    {"FP32 as JSON": _single, "FP32 as bytes": _binary("FP32", "<f4"), "dataset": _batch}
)


async def differences(served: Served, seed: int, n_rows: int) -> list[str]:
    """Return the forms whose scores of a drawn model differ in any bit from LightGBM's, with counts."""
    model = drawn_model(seed)
    served.add(model.name, model.booster.model_to_string(), feature_names=model.names, imported=True)
    rows = drawn_rows(model, n_rows, seed)
    problems = []
    for forms, sent in ((DOUBLE, rows), (SINGLE, rows.astype(np.float32).astype(np.float64))):
        expected = lightgbm_scores(model, sent)
        for name, form in forms.items():
            scores = await form(served, model, sent)
            if different := int(np.sum(scores != expected)):
                problems.append(f"seed {seed}, {name}: {different} of {n_rows} scores differ")
    return problems
