"""Score documents with an exported model of Rankery; scores equal those of the service.

`rankery mlflow export` copies this file into the MLflow model directory, where MLflow imports it. It
must not import Rankery: only numpy and pandas, and LightGBM for models with categorical splits, linear
trees or averaged trees, and for the trees of sums. The loaded directory holds:

- `model.json`: `kind`, `feature_names`, `categories`, the values of each categorical feature by name, and
  `precision` of the features: float64 for trees that were imported into Rankery, else float32.
- For trees, `model.txt`, LightGBM's text; for plain trees also `nodes.npz`: arrays `features`, `values`,
  `missing`, `right` and `roots`.
- For linear scorers, networks and sums, `model.safetensors`.
"""

import datetime
import json
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_ZERO = 1e-35  # float32, as in LightGBM: absolute values up to this count as 0
_ZERO_LEFT, _ZERO_RIGHT, _NAN_LEFT = 1, 2, 3  # direction of missing values at a split; 4 sends NaN right
_EPSILON = 1e-5  # added to the variance by a layer norm
_LARGEST = float(np.finfo(np.float32).max)
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")
_LONG_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
_FRACTION = re.compile(r"-?[0-9]+\.[0-9]+|-?[0-9]+(\.[0-9]+)?e-[0-9]+")  # as Python writes them
_BOOLEANS = {"false": 0.0, "true": 1.0}

Score = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class ScoringModel:
    """A model with the `predict` interface of MLflow.

    Attributes:
        feature_names: Names of the features, in the model's order.
        categories: The values of each categorical feature by its name; the code of a value is its position.
        score: Function from features, (n_documents, n_features) with categories as codes, to scores.
        precision: Floating-point type that features are rounded to.
    """

    def __init__(
        self,
        feature_names: Sequence[str],
        categories: Mapping[str, Sequence[str]],
        score: Score,
        precision: str = "float32",
    ) -> None:
        self.feature_names = list(feature_names)
        self.categories = dict(categories)
        self.score = score
        self.precision = precision

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> NDArray[np.float64]:
        """Return a score for each row; the higher it is, the better the document ranks.

        Args:
            model_input: A data frame with the feature columns in any order, and possibly others; or an array
                (n_documents, n_features) in the model's order. NaN and None are missing.
            params: Not used.

        Raises:
            ValueError: Columns are missing, a cell of a numeric feature is not a number or too large, or a
                category is neither a text, a number, a boolean nor a date.
        """
        return self.score(self.matrix(model_input))

    def matrix(self, model_input: Any) -> NDArray[np.float64]:
        """Return features in the model's order, categories as codes, rounded as in training."""
        if not isinstance(model_input, pd.DataFrame):
            model_input = pd.DataFrame(np.atleast_2d(model_input), columns=self.feature_names)
        lacking = [name for name in self.feature_names if name not in model_input.columns]
        if lacking:
            shown = ", ".join(lacking[:10]) + (", …" if len(lacking) > 10 else "")
            raise ValueError(f"the model needs the columns {shown}; set them to NaN where they are missing")
        features = np.empty((len(model_input), len(self.feature_names)))
        for index, name in enumerate(self.feature_names):
            column = self._column(name, model_input[name])
            with np.errstate(over="ignore"):
                single = column.astype(np.float32)
            features[:, index] = single if self.precision == "float32" else column
            if (np.isinf(single) & np.isfinite(column)).any():
                raise ValueError(f"the column {name} has a value beyond the range of float32")
        return features

    def _column(self, name: str, values: Any) -> NDArray[np.float64]:
        if name in self.categories:
            codes = _codes(self.categories[name])
            try:
                return np.array([codes(value) for value in values.tolist()], np.float64)
            except ValueError as error:
                raise ValueError(f"the column {name}: {error}") from error
        try:
            return np.asarray(pd.to_numeric(values).to_numpy(np.float64, na_value=np.nan))
        except (ValueError, TypeError) as error:
            raise ValueError(f"the column {name} must hold numbers: {error}") from error


def _load_pyfunc(data_path: str) -> ScoringModel:
    """Load the model of a directory; MLflow calls this."""
    folder = Path(data_path)
    metadata = json.loads((folder / "model.json").read_text("utf-8"))
    precision = metadata.get("precision", "float32")
    names = metadata["feature_names"]
    return ScoringModel(names, metadata["categories"], _score_of(folder, names), precision)


def _score_of(folder: Path, feature_names: Sequence[str]) -> Score:
    if (folder / "model.safetensors").exists():
        content = (folder / "model.safetensors").read_bytes()
        members = members_of(content)
        return network_score(content) if members is None else sum_score(members, feature_names)
    if (folder / "nodes.npz").exists():
        with np.load(folder / "nodes.npz", allow_pickle=False) as arrays:
            return nodes_score({name: arrays[name] for name in arrays.files})
    return lightgbm_score((folder / "model.txt").read_text("utf-8"))


def lightgbm_score(text: str) -> Score:
    """Return a function that scores documents by LightGBM, given its text."""
    import lightgbm

    booster = lightgbm.Booster(model_str=text)
    return lambda features: np.asarray(booster.predict(features, raw_score=True), np.float64)


@dataclass(frozen=True)
class Member:
    """A model of a sum.

    Attributes:
        feature_names: Names of its features.
        weight: Factor of its scores.
        precision: Floating-point type that its features are rounded to.
        content: Its file: LightGBM's text, or the safetensors file of a linear scorer or a network.
    """

    feature_names: Sequence[str]
    weight: float
    precision: str
    content: bytes

    @property
    def text(self) -> str | None:
        """Return LightGBM's text, which never has the brace of a safetensors header; None for others."""
        return None if self.content[8:9] == b"{" else self.content.decode()

    def score(self) -> Score:
        """Return the function that scores documents by the member."""
        return network_score(self.content) if self.text is None else lightgbm_score(self.text)


def members_of(content: bytes) -> list[Member] | None:
    """Return the members of a sum, or None if the safetensors file is another model."""
    tensors, metadata = _tensors(content)
    if metadata.get("kind") != "sum":
        return None
    return [
        Member(
            each["feature_names"],
            each["weight"],
            each.get("precision", "float32"),
            tensors[f"members.{index}"].tobytes(),
        )
        for index, each in enumerate(metadata["members"])
    ]


def sum_score(members: Sequence[Member], feature_names: Sequence[str]) -> Score:
    """Return a function that scores documents by a sum of models, added up in float64 in member order."""
    columns = {name: index for index, name in enumerate(feature_names)}
    parts = [(each, each.score(), [columns[name] for name in each.feature_names]) for each in members]

    def score(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        totals = np.zeros(len(matrix))
        for member, member_score, columns in parts:
            cells = matrix[:, columns].astype(member.precision).astype(np.float64)
            totals += member.weight * member_score(cells)
        return totals

    return score


def numbers_of(values: Sequence[str]) -> list[float] | None:
    """Return categories that are all numbers, or all booleans, as numbers; else None."""
    if all(map(_is_number, values)):
        return list(map(float, values))
    numbers = [_BOOLEANS.get(value.lower(), math.nan) for value in values]
    return numbers if len(set(numbers) & {0.0, 1.0}) == len(values) else None


def _is_number(text: str) -> bool:
    if _WHOLE_NUMBER.fullmatch(text):
        return True
    return bool(_FRACTION.fullmatch(text)) and _text_of_number(float(text)) == text


def category_text(value: Any) -> str:
    """Return a category as text, as the service writes it: `true`, `2` for 2.0."""
    if isinstance(value, bool):
        return str(value).lower()
    return _text_of_number(value) if isinstance(value, float) else str(value)


def _text_of_number(number: float) -> str:
    return str(int(number)) if number.is_integer() else str(number)


def _codes(values: Sequence[str]) -> Callable[[Any], float]:
    """Return a function from a cell to its category code, NaN for values unseen in training.

    If all categories are numbers, or booleans, a number is looked up as a category; else a number is a code.
    Of long whole numbers, a float from 2^53 on may be another one, rounded, and counts as unseen.
    """
    positions = {value: float(code) for code, value in enumerate(values)}
    numbers = numbers_of(values) if values else None
    by_number = {number: float(code) for code, number in enumerate(numbers or ())}
    are_long = bool(values) and numbers is None and all(map(_LONG_WHOLE_NUMBER.fullmatch, values))

    def code(cell: Any) -> float:
        if isinstance(cell, str):
            return positions.get(cell, math.nan)
        if type(cell) is datetime.date:
            return positions.get(str(cell), math.nan)
        if cell is None or cell is pd.NA or cell is pd.NaT:
            return math.nan
        if not isinstance(cell, Real):
            raise ValueError(f"{cell!r} is no category; convert it to the text that the training had")
        if are_long and isinstance(cell, Integral):
            return positions.get(str(int(cell)), math.nan)
        number = float(cell)
        if are_long:
            is_exact = number.is_integer() and abs(number) < 2**53
            return positions.get(str(int(number)), math.nan) if is_exact else math.nan
        return number if numbers is None else by_number.get(number, math.nan)

    return code


def nodes_score(nodes: Mapping[str, NDArray[Any]]) -> Score:
    """Return a function that scores documents by the nodes of trees.

    A split's left child is the next node; the feature of a leaf is -1. Trees are added up in their order, in
    float64, so that the sum equals LightGBM's bit for bit.
    """
    features, values, missing, right, roots = (
        nodes[name] for name in ("features", "values", "missing", "right", "roots")
    )

    def score(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, totals = np.arange(len(matrix)), np.zeros(len(matrix))
        for root in roots.tolist():
            nodes = np.full(len(matrix), root)
            while (is_split := features[nodes] >= 0).any():
                cells = matrix[rows, np.where(is_split, features[nodes], 0)]
                left = _goes_left(cells, values[nodes], missing[nodes])
                nodes = np.where(is_split, np.where(left, nodes + 1, right[nodes]), nodes)
            totals += values[nodes]
        return totals

    return score


def _goes_left(
    cells: NDArray[np.float64], thresholds: NDArray[np.float64], missing: NDArray[np.int64]
) -> NDArray[np.bool_]:
    is_nan = np.isnan(cells)
    numbers = np.where(is_nan, 0.0, cells)
    is_zero = np.abs(numbers) <= np.float64(np.float32(_ZERO))
    left = np.where(is_zero, 0.0, numbers) <= thresholds
    zero_is_missing = (missing == _ZERO_LEFT) | (missing == _ZERO_RIGHT)
    left = np.where(is_zero & zero_is_missing, missing == _ZERO_LEFT, left)
    return np.where(is_nan & (missing >= _NAN_LEFT), missing == _NAN_LEFT, left)


def network_score(content: bytes) -> Score:
    """Return a function that scores documents by a linear scorer or a network.

    All arithmetic is float64, as on the service; only the order of summation differs.
    """
    tensors, metadata = _tensors(content)
    layers: list[dict[str, Any]] = [
        {
            name: tensors.get(f"layers.{index}.{name}")
            for name in ("weights", "bias", "norm_scales", "norm_shifts")
        }
        for index in range(metadata["layers"])
    ]

    def score(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        units = _inputs(matrix, metadata["inputs"], tensors)
        for index, layer in enumerate(layers):
            units = units @ layer["weights"] + layer["bias"]
            if index < len(layers) - 1:
                if layer["norm_scales"] is not None:
                    units = _normalised(units) * layer["norm_scales"] + layer["norm_shifts"]
                units = _ACTIVATIONS[metadata["activation"]](units)
        return np.asarray(units[:, 0])

    return score


def _tensors(content: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Parse a safetensors file into its arrays, float32 as float64, and Rankery's metadata."""
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    metadata = json.loads(header.pop("__metadata__")["rankery"])
    types = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1"}
    tensors = {}
    for name, tensor in header.items():
        first, last = tensor["data_offsets"]
        flat = np.frombuffer(content[8 + size + first : 8 + size + last], types[tensor["dtype"]])
        array = flat.reshape(tensor["shape"])
        tensors[name] = array.astype(np.float64) if tensor["dtype"] == "F32" else array
    return tensors, metadata


def _inputs(
    matrix: NDArray[np.float64], metadata: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    values = matrix.copy()
    is_missing = ~(np.abs(values) <= _LARGEST)
    values[is_missing] = 0.0
    if metadata["log1p"]:
        values = np.copysign(np.log1p(np.abs(values)), values)
    if metadata["kind"] == "standard":
        values = (values - tensors["inputs.means"]) / tensors["inputs.deviations"]
    elif metadata["kind"] == "rank-gauss":
        knots, targets = tensors["inputs.knots"], tensors["inputs.targets"]
        for index in range(values.shape[1]):
            values[:, index] = _interpolated(values[:, index], knots[index], targets[index])
    values[is_missing] = 0.0
    return np.hstack([values, is_missing[:, tensors["inputs.indicators"]].astype(np.float64)])


def _interpolated(
    values: NDArray[np.float64], knots: NDArray[np.float64], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate between knots; several knots at either end may be equal."""
    low = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 2)
    width = knots[low + 1] - knots[low]
    share = (values - knots[low]) / np.where(width > 0, width, 1.0)
    between = targets[low] + share * (targets[low + 1] - targets[low])
    return np.where(values <= knots[0], targets[0], np.where(values >= knots[-1], targets[-1], between))


def _normalised(units: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = units - units.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + _EPSILON))


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    falling = np.exp(-np.abs(values))
    return np.where(values >= 0, 1.0, falling) / (1.0 + falling)


_ACTIVATIONS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "relu": lambda values: np.maximum(values, 0.0),
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
}
