"""The engines that read exports of linear scorers and networks, as their own sources have them.

Each reads a file as strictly as its engine does and scores a document at a time. They share nothing with the
exports' own readers.
"""

import json
import math
import re
from typing import Any

import numpy as np

from tests.core.export.engines import F, Json, Score

_MODEL = "org.apache.solr.ltr.model"


def _only(found: Json, required: set[str], optional: frozenset[str] = frozenset()) -> Json:
    assert required <= set(found) <= required | optional, sorted(found)
    return found


def _double(value: Any) -> Any:
    """Java's cast to Double, which fails for a Long."""
    assert isinstance(value, float)
    return F(value)


def _activated(x: Any, activation: str) -> Any:
    match activation:
        case "identity":
            return x
        case "relu":
            return F(0.0) if x < 0 else x
        case "tanh":
            return F(math.tanh(x))
        case "sigmoid":
            return F(1 / (1 + np.exp(-np.float64(x))))
    raise AssertionError(activation)


def _normalised(x: Any, feature: Json) -> Any:
    if "norm" not in feature:
        return x
    assert feature["norm"]["class"] == "org.apache.solr.ltr.norm.StandardNormalizer"
    average, deviation = (F(feature["norm"]["params"][key]) for key in ("avg", "std"))
    assert deviation > 0
    return F(F(x - average) / deviation)


def _linear_model(params: Json, names: list[str], inputs: list[Any]) -> Any:
    weights, total = _only(params, {"weights"})["weights"], F(0.0)
    for name, x in zip(names, inputs, strict=True):
        total = F(total + F(x * _double(weights[name])))
    return total


def _network_model(params: Json, _: list[str], inputs: list[Any]) -> Any:
    for layer in _only(params, {"layers"})["layers"]:
        _only(layer, {"matrix", "bias", "activation"})
        outputs = []
        for row, bias in zip(layer["matrix"], layer["bias"], strict=True):
            total = _double(bias)
            for weight, x in zip(row, inputs, strict=True):
                total = F(total + F(_double(weight) * x))
            outputs.append(_activated(total, layer["activation"]))
        inputs = outputs
    (found,) = inputs
    return found


def solr(content: bytes, names: list[str], features: bytes) -> Score:
    """LinearModel and NeuralNetworkModel behind StandardNormalizer, sums in float32, features by default."""
    model = _only(json.loads(content), {"class", "name", "store", "features", "params"})
    assert [_only(feature, {"name"}, frozenset({"norm"}))["name"] for feature in model["features"]] == names
    stored = {feature["name"]: feature["params"] for feature in json.loads(features)}
    defaults = [F(stored[name].get("defaultValue", "0")) for name in names]
    scored = {f"{_MODEL}.LinearModel": _linear_model, f"{_MODEL}.NeuralNetworkModel": _network_model}

    def score(row: list[float]) -> float:
        values = [default if math.isnan(x) else F(x) for x, default in zip(row, defaults, strict=True)]
        inputs = [_normalised(x, feature) for x, feature in zip(values, model["features"], strict=True)]
        return float(scored[model["class"]](model["params"], names, inputs))

    return score


def plugin(content: bytes, names: list[str]) -> Score:
    """LinearRanker behind FeatureNormalizingRanker: a missing feature is 0 before it is normalised."""
    model = _only(_only(json.loads(content), {"model"})["model"], {"name", "model"})["model"]
    _only(model, {"type", "definition"}, frozenset({"feature_normalizers"}))
    assert model["type"] == "model/linear"
    assert isinstance(model["definition"], str)
    weights = json.loads(model["definition"])
    assert set(weights) <= set(names)
    norms = model.get("feature_normalizers", {})

    def score(row: list[float]) -> float:
        total = F(0.0)
        for name, x in zip(names, row, strict=True):
            value = F(0.0) if math.isnan(x) else F(x)
            if name in norms:
                norm = _only(_only(norms[name], {"standard"})["standard"], {"mean", "standard_deviation"})
                value = F(F(value - F(norm["mean"])) / F(norm["standard_deviation"]))
            total = F(total + F(F(weights.get(name, 0.0)) * value))
        return float(total)

    return score


def vespa(content: bytes, names: list[str]) -> Score:
    """The first-phase expression, which has features by name or as `attribute(name)`."""
    text = content.decode()
    (expression,) = re.findall(r"first-phase \{\s+expression \{(.*?)\}", text, re.DOTALL)
    for place, name in enumerate(names):
        expression = expression.replace(name, f"x[{place}]")
    python = re.sub(r"if \(isNan\((x\[\d+\])\), ([^,]+), ([^)]+)\)", r"(\2 if isnan(\1) else \3)", expression)
    code = compile(" ".join(python.split()), "expression", "eval")
    return lambda row: float(eval(code, {"isnan": math.isnan}, {"x": row}))
