"""Vespa's reading of the rank profile of a sum: functions, models and the first phase."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.core.export import engines
from tests.core.export.engines import Scorer

_FUNCTION = re.compile(
    r"^    function (\w+)\(\) \{\n        expression(: .*?| \{.*?\n        \})\n    \}$", re.M | re.S
)
_ONNX = re.compile(
    r"^    onnx-model (\w+) \{\n        file: (\S+)\n        input features: (\w+)\n"
    r"        output scores: scores\n    \}$",
    re.M,
)


def vespa(profile: bytes, files: Mapping[str, bytes], names: list[str], *, single: bool) -> Scorer:
    """Return a function that evaluates the first phase as content nodes (`single`) or containers do.

    Args:
        profile: The rank profile.
        files: The models by their places in the application package.
        names: The sum's features, each an attribute of that name.
        single: Whether trees have float32 thresholds and leaves.
    """
    text = profile.decode()
    (first_phase,) = re.findall(r"first-phase \{\n        expression \{(.*?)\n        \}", text, re.S)
    functions = dict(_FUNCTION.findall(text))
    inputs = {name: (path, function) for name, path, function in _ONNX.findall(text)}
    values: dict[str, Any] = {"isnan": math.isnan}

    def evaluate(expression: str) -> Any:
        plain = re.sub(r"sum\(onnx\((\w+)\)\.scores\)", r'onnx("\1")', " ".join(expression.split()))
        python = re.sub(r"if \(isNan\((\w+)\), ([^,]+), ([^)]+)\)", r"(\2 if isnan(\1) else \3)", plain)
        called = re.sub(r"(?<![\w\"])(\w+)(?![\w\"(.])", _call_of(functions), python)
        return eval(called, values)

    def lightgbm(name: str) -> float:
        content = files[f"models/{name}"]
        own = re.findall(r'"([^"]+)"', content.decode().split('"feature_names": [')[1].split("]")[0])
        return engines.vespa(content, own, single=single)([values["call"](each) for each in own])

    def onnx(name: str) -> float:
        path, function = inputs[name]
        declared, rows = re.findall(
            r"tensor<float>\(d0\[1\],d1\[(\d+)\]\):\[\[(.*?)\]\]", functions[function], re.S
        )[0]
        own = [each.strip() for each in rows.split(",")]
        assert len(own) == int(declared)
        row = np.array([[values["call"](each) for each in own]])
        return float(engines.onnx(files[path])(row)[0])

    def call(name: str) -> Any:
        body = functions[name]
        attribute = re.fullmatch(r": attribute\((\w+)\)", body)
        return values["row"][attribute[1]] if attribute else evaluate(body.strip(" {}"))

    def score(row: list[float]) -> float:
        values.update(row=dict(zip(names, row, strict=True)), lightgbm=lightgbm, onnx=onnx, call=call)
        return float(evaluate(first_phase))

    return score


def _call_of(functions: Mapping[str, str]) -> Any:
    return lambda found: f'call("{found[1]}")' if found[1] in functions else found[0]
