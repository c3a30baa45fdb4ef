"""A Python module without dependencies."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import numpy.typing as npt

from core.export.networks.source_code import Arrays, SourceCode, tables_of
from core.export.networks.target import NetworkSource
from core.scorers.kernels import EPSILON

_HEAD = '''\
"""The model {name}, exported by Rankery: documents' features in, scores out.

score(features) takes a sequence of {n_features} numbers in the order of FEATURES; None, and what is not
finite, is missing. They are rounded to float32 first, as the model's training data were.
"""

from math import copysign, exp, isfinite, log1p, nan, sqrt, tanh
from struct import pack, unpack

FEATURES = (
{features}
)

{tables}

# Each layer: a row of weights for each input, the bias, and the scales and shifts of a layer norm.
LAYERS = (
{layers}
)


def score(features):
    """Return the score of a document; the higher it is, the better it ranks."""
    if len(features) != len(FEATURES):
        raise ValueError(f"the model needs {{len(FEATURES)}} features, these are {{len(features)}}")
    values = [_single(value) for value in features]
    units = [_scaled({value}, place) if isfinite(value) else 0.0 for place, value in enumerate(values)]
{indicators}    for place, (weights, bias, norm_scales, norm_shifts) in enumerate(LAYERS):
        totals = list(bias)
        for unit, row in zip(units, weights):
            for j, weight in enumerate(row):
                totals[j] += unit * weight
        if place < len(LAYERS) - 1:
            if norm_scales is not None:
                totals = _normalised(totals, norm_scales, norm_shifts)
            totals = [_activated(total) for total in totals]
        units = totals
    return units[0]


def _single(value):
    if value is None:
        return nan
    try:
        return unpack("f", pack("f", value))[0]
    except OverflowError:
        return nan


def _scaled(value, place):
{scaled}

def _normalised(units, scales, shifts):
    mean = squares = 0.0
    for unit in units:
        mean += unit
    mean /= len(units)
    for unit in units:
        squares += (unit - mean) * (unit - mean)
    factor = 1.0 / sqrt(squares / len(units) + {epsilon!r})
    return [(unit - mean) * factor * scale + shift for unit, scale, shift in zip(units, scales, shifts)]


def _activated(value):
    {activation}
'''
_SCALED = {
    "none": "    return value\n",
    "standard": "    return (value - MEANS[place]) / DEVIATIONS[place]\n",
    "rank-gauss": """\
    # Interpolates between knots; equal ones stand at the end.
    knots, targets = KNOTS[place], TARGETS[place]
    low, high = 0, len(knots) - 1
    if value <= knots[low]:
        return targets[low]
    if value >= knots[high]:
        return targets[high]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if knots[middle] <= value else (low, middle)
    share = (value - knots[low]) / (knots[high] - knots[low])
    return targets[low] + share * (targets[high] - targets[low])
""",
}
_ACTIVATIONS = {
    "relu": "return value if value > 0.0 else 0.0",
    "tanh": "return tanh(value)",
    "sigmoid": """\
if value >= 0.0:
        return 1.0 / (1.0 + exp(-value))
    value = exp(value)
    return value / (1.0 + value)""",
}
_INDICATORS = "    units += [0.0 if isfinite(values[feature]) else 1.0 for feature in INDICATORS]\n"


class Python(SourceCode):
    """One module, nothing but the standard library."""

    name = "python"
    filename = "model.py"
    reader = "Python"
    summary = "Python module without dependencies, in float64"
    log1p = "copysign(log1p(abs(value)), value)"
    before_log1p = "    units = [_scaled("
    before_activation = "def _activated(value):\n    "

    def activations(self) -> Mapping[str, str]:
        """Return the code of each activation."""
        return _ACTIVATIONS

    def write(self, source: NetworkSource) -> bytes:
        """Write the module."""
        network, inputs = source.network, source.network.inputs
        return _HEAD.format(
            name=source.name,
            n_features=network.n_features,
            features="\n".join(f"    {name!a}," for name in source.features),
            tables="\n".join(
                f"{name.upper()} = {_literal(array)}" for name, array in tables_of(network).items()
            ),
            layers="\n".join(f"    {_layer(place, layer)}," for place, layer in enumerate(network.layers)),
            value=self.log1p if inputs.log1p else "value",
            indicators=_INDICATORS if len(inputs.indicators) else "",
            scaled=_SCALED[inputs.kind],
            epsilon=EPSILON,
            activation=_ACTIVATIONS[network.activation],
        ).encode()

    def arrays(self, text: str) -> Arrays:
        """Read the tables."""
        tables = (statement for statement in ast.parse(text).body if isinstance(statement, ast.Assign))
        return {
            target.id.lower(): list(_flat(ast.literal_eval(table.value)))
            for table in tables
            if isinstance(target := table.targets[0], ast.Name) and target.id not in ("FEATURES", "LAYERS")
        }

    def instructions(self, source: NetworkSource) -> str:
        """Show it in Python."""
        return """\
```python
import json
import model

for line in open("golden.jsonl", encoding="utf-8"):
    golden = json.loads(line)
    score = model.score(list(golden["features"].values()))
    assert abs(score - golden["score"]) <= 1e-9 * max(1.0, abs(golden["score"])), golden["id"]
```
"""


def _literal(array: npt.NDArray[Any]) -> str:
    """Write an array as a tuple, a row of a matrix a line."""
    if array.ndim == 1:
        return f"({', '.join(map(repr, array.tolist()))},)"
    rows = "\n".join(f"    ({', '.join(map(repr, row))},)," for row in array.tolist())
    return f"(\n{rows}\n)"


def _layer(place: int, layer: Any) -> str:
    norms = ", ".join(
        "None" if getattr(layer, name) is None else f"{name.upper()}_{place}"
        for name in ("norm_scales", "norm_shifts")
    )
    return f"(WEIGHTS_{place}, BIAS_{place}, {norms})"


def _flat(values: tuple[Any, ...]) -> Iterator[float]:
    for value in values:
        if isinstance(value, tuple):
            yield from _flat(value)
        else:
            yield value
