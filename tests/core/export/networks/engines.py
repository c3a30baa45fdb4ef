"""Re-implement how engines score exported linear scorers and networks, following the engines' source code.

Each function reads a file as strictly as its engine does, and returns a function that scores a document. They
share nothing with the exports' own readers.
"""

import json
import math
import re
from typing import Any

import numpy as np

from tests.core.export.engines import Json, Scorer, checked, float32

_MODEL = "org.apache.solr.ltr.model"


def _float_of_double(value: Any) -> Any:
    """Return a JSON number as float32; refuse an integer, as Java's cast of a Long to Double does."""
    assert isinstance(value, float)
    return float32(value)


def _activated(x: Any, activation: str) -> Any:
    match activation:
        case "identity":
            return x
        case "relu":
            return float32(0.0) if x < 0 else x
        case "tanh":
            return float32(math.tanh(x))
        case "sigmoid":
            return float32(1 / (1 + np.exp(-np.float64(x))))
    raise AssertionError(activation)


def _normalised(x: Any, feature: Json) -> Any:
    if "norm" not in feature:
        return x
    assert feature["norm"]["class"] == "org.apache.solr.ltr.norm.StandardNormalizer"
    average, deviation = (float32(feature["norm"]["params"][key]) for key in ("avg", "std"))
    assert deviation > 0
    return float32(float32(x - average) / deviation)


def _linear_model(params: Json, names: list[str], inputs: list[Any]) -> Any:
    weights, total = checked(params, {"weights"})["weights"], float32(0.0)
    for name, x in zip(names, inputs, strict=True):
        total = float32(total + float32(x * _float_of_double(weights[name])))
    return total


def _network_model(params: Json, _: list[str], inputs: list[Any]) -> Any:
    for layer in checked(params, {"layers"})["layers"]:
        checked(layer, {"matrix", "bias", "activation"})
        outputs = []
        for row, bias in zip(layer["matrix"], layer["bias"], strict=True):
            total = _float_of_double(bias)
            for weight, x in zip(row, inputs, strict=True):
                total = float32(total + float32(_float_of_double(weight) * x))
            outputs.append(_activated(total, layer["activation"]))
        inputs = outputs
    (found,) = inputs
    return found


def solr(content: bytes, names: list[str], features: bytes) -> Scorer:
    """Return a function that scores like Solr's LinearModel and NeuralNetworkModel, in float32.

    A missing feature has its default value; StandardNormalizer normalises the features first.
    """
    model = checked(json.loads(content), {"class", "name", "store", "features", "params"})
    assert [checked(feature, {"name"}, frozenset({"norm"}))["name"] for feature in model["features"]] == names
    stored = {feature["name"]: feature["params"] for feature in json.loads(features)}
    defaults = [float32(stored[name].get("defaultValue", "0")) for name in names]
    scored = {f"{_MODEL}.LinearModel": _linear_model, f"{_MODEL}.NeuralNetworkModel": _network_model}

    def score(row: list[float]) -> float:
        values = [default if math.isnan(x) else float32(x) for x, default in zip(row, defaults, strict=True)]
        inputs = [_normalised(x, feature) for x, feature in zip(values, model["features"], strict=True)]
        return float(scored[model["class"]](model["params"], names, inputs))

    return score


def ltr_plugin(content: bytes, names: list[str]) -> Scorer:
    """Return a function that scores like LinearRanker of Elasticsearch's and OpenSearch's LTR plugins.

    Missing features are replaced by 0, before FeatureNormalizingRanker normalises the features.
    """
    model = checked(checked(json.loads(content), {"model"})["model"], {"name", "model"})["model"]
    checked(model, {"type", "definition"}, frozenset({"feature_normalizers"}))
    assert model["type"] == "model/linear"
    assert isinstance(model["definition"], str)
    weights = json.loads(model["definition"])
    assert set(weights) <= set(names)
    norms = model.get("feature_normalizers", {})

    def score(row: list[float]) -> float:
        total = float32(0.0)
        for name, x in zip(names, row, strict=True):
            value = float32(0.0) if math.isnan(x) else float32(x)
            if name in norms:
                norm = checked(checked(norms[name], {"standard"})["standard"], {"mean", "standard_deviation"})
                value = float32(float32(value - float32(norm["mean"])) / float32(norm["standard_deviation"]))
            total = float32(total + float32(float32(weights.get(name, 0.0)) * value))
        return float(total)

    return score


def vespa(content: bytes, names: list[str]) -> Scorer:
    """Return a function that evaluates the first-phase expression, which refers to features by name."""
    text = content.decode()
    (expression,) = re.findall(r"first-phase \{\s+expression \{(.*?)\}", text, re.DOTALL)
    for index, name in enumerate(names):
        expression = expression.replace(name, f"x[{index}]")
    python = re.sub(r"if \(isNan\((x\[\d+\])\), ([^,]+), ([^)]+)\)", r"(\2 if isnan(\1) else \3)", expression)
    code = compile(" ".join(python.split()), "expression", "eval")
    return lambda row: float(eval(code, {"isnan": math.isnan}, {"x": row}))
