"""Python export: a module for a forest, a network or a sum, without dependencies."""

import ast
import re
import textwrap
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy.typing as npt

from core.errors import ModelError
from core.export.networks.target import NetworkSource
from core.export.source_code import Arrays, NetworkCode, SourceCode, TreeCode, layer_names, tables_of
from core.export.sums.target import MembersTarget, Part, SumSource, WrittenMember
from core.export.target import AnySource
from core.export.text import replay_code, within_tolerance
from core.export.thresholds import ZERO
from core.export.tree_target import TreeSource
from core.scorers.kernels import EPSILON

_CODE = '''\
"""The model {name}, exported by Rankery. `score` returns the score of a document{precision}.

score(features) takes a sequence of {n_features} numbers in the order of FEATURES; {missing}
"""

{imports}

FEATURES = (
{features}
)

{tables}


def score(features):
    """Return the score of a document; the higher it is, the better it ranks."""
    if len(features) != len(FEATURES):
        raise ValueError(f"expected {{len(FEATURES)}} features, but got {{len(features)}}")
{body}'''
_TREE_TABLES = """\
# Values that a split treats as missing, and the child that they go to.
NOTHING, ZERO_LEFT, ZERO_RIGHT, NAN_LEFT, NAN_RIGHT = range(5)
ZERO = {zero!r}  # LightGBM treats values up to this magnitude as 0

# A split: feature, threshold, where missing values go, right child; its left child is the next line.
# A leaf: -1, value, 0, 0.
NODES = (
{nodes}
)

# The first node of each tree.
ROOTS = (
{roots}
)"""
_TREE_BODY = """\
    total = 0.0
    for node in ROOTS:
        feature, number, missing, right = NODES[node]
        while feature >= 0:
            node = node + 1 if _goes_left(features[feature], number, missing) else right
            feature, number, missing, right = NODES[node]
        total += number
    return total


def _goes_left(value, threshold, missing):
    if value is None or isnan(value):
        if missing >= NAN_LEFT:
            return missing == NAN_LEFT
        value = 0.0
    if -ZERO <= value <= ZERO:
        if ZERO_LEFT <= missing <= ZERO_RIGHT:
            return missing == ZERO_LEFT
        value = 0.0
    return value <= threshold

"""
_LAYERS = """\
{tables}

# Each layer: a row of weights for each input, the bias, and the scales and shifts of a layer norm.
LAYERS = (
{layers}
)"""
_LAYERS_BODY = """\
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
"""
_SCALED = {
    "none": "    return value\n",
    "standard": "    return (value - MEANS[place]) / DEVIATIONS[place]\n",
    "rank-gauss": """\
    # Interpolates between knots, which ascend; only the last one may be repeated.
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
_MEMBER = """\
def _member_{number}():
{code}
    return score
"""
_SUM_TABLES = """\
{members}

# For each member: weight, columns of its features, whether they are rounded to float32, and its function.
WEIGHTS = {weights}
COLUMNS = {columns}
ROUNDS = {rounds}
_SCORES = ({scores},)"""
_SUM_BODY = """\
    total = 0.0
    for weight, columns, rounds, member in zip(WEIGHTS, COLUMNS, ROUNDS, _SCORES):
        chosen = [features[column] for column in columns]
        total += weight * member([_rounded(value) for value in chosen] if rounds else chosen)
    return total


def _rounded(value):
    if value is None:
        return None
    try:
        return unpack("f", pack("f", value))[0]
    except OverflowError:
        return copysign(inf, value)
"""
_REPLAY = replay_code(
    "import json\nimport model\n",
    '    score = model.score(list(golden["features"].values()))\n',
    within_tolerance("1e-9"),
)
_MEMBER_FUNCTION = re.compile(r"^def _member_\d+\(\):\n(.*?)^    return score\n", re.MULTILINE | re.DOTALL)
_INDICATORS = "    units += [0.0 if isfinite(values[feature]) else 1.0 for feature in INDICATORS]\n"


class _Python(SourceCode[AnySource]):
    """A Python module of a model."""

    name = "python"
    filename = "model.py"
    reader = "Python"
    imports: ClassVar[str]

    @abstractmethod
    def code(self, source: AnySource) -> tuple[str, str]:
        """Return the constants after the names of features, and `score`'s body with its functions."""

    def write(self, source: AnySource) -> bytes:
        """Write the module."""
        tables, body = self.code(source)
        return _CODE.format(
            name=source.name,
            precision=self.precision,
            missing=self.missing,
            imports=self.imports,
            n_features=len(source.features),
            features="\n".join(f"    {name!a}," for name in source.features),
            tables=tables,
            body=body,
        ).encode()


class PythonTrees(_Python[TreeSource], TreeCode):
    """Python module of a forest."""

    summary = "Python module without dependencies, exact in float64"
    missing = "None or NaN is missing."
    imports = "from math import inf, isnan"
    row = "    (%d, %s, %d, %d),"
    infinity = "inf"

    def code(self, source: TreeSource) -> tuple[str, str]:
        """Return the tables of nodes and roots, and the functions that evaluate them."""
        return _TREE_TABLES.format(zero=ZERO, **self.tables(source.nodes)), _TREE_BODY

    def instructions(self, source: TreeSource) -> str:
        """Return Python code that replays the golden vectors."""
        condition = 'model.score(list(golden["features"].values())) == golden["score"]'
        return replay_code("import json\nimport model\n", "", condition)


class PythonNetwork(_Python[NetworkSource], NetworkCode):
    """Python module of a linear scorer or a network."""

    summary = "Python module without dependencies, in float64"
    missing = (
        "None and values that\nare not finite are missing. Features are rounded to float32 first, as in"
        " training."
    )
    imports = (
        "from math import copysign, exp, isfinite, log1p, nan, sqrt, tanh\nfrom struct import pack, unpack"
    )
    activations = _ACTIVATIONS
    log1p = "copysign(log1p(abs(value)), value)"
    before_log1p = "    units = [_scaled("
    before_activation = "def _activated(value):\n    "

    def code(self, source: NetworkSource) -> tuple[str, str]:
        """Return the tables of inputs and layers, and the functions that evaluate them."""
        network, inputs = source.network, source.network.inputs
        tables = _LAYERS.format(
            tables="\n".join(
                f"{name.upper()} = {_literal(array)}" for name, array in tables_of(network).items()
            ),
            layers="\n".join(
                f"    ({', '.join(str(name and name.upper()) for name in layer_names(index, layer))}),"
                for index, layer in enumerate(network.layers)
            ),
        )
        body = _LAYERS_BODY.format(
            value=self.log1p if inputs.log1p else "value",
            indicators=_INDICATORS if len(inputs.indicators) else "",
            scaled=_SCALED[inputs.kind],
            epsilon=EPSILON,
            activation=_ACTIVATIONS[network.activation],
        )
        return tables, body

    def arrays(self, text: str) -> Arrays:
        """Parse the tables of the module."""
        tables = (statement for statement in ast.parse(text).body if isinstance(statement, ast.Assign))
        return {
            target.id.lower(): list(_flat(ast.literal_eval(table.value)))
            for table in tables
            if isinstance(target := table.targets[0], ast.Name) and target.id not in ("FEATURES", "LAYERS")
        }

    def instructions(self, source: NetworkSource) -> str:
        """Return Python code that replays the golden vectors."""
        return _REPLAY


class PythonSum(_Python[SumSource], MembersTarget):
    """Python module of a sum: a function around the module of each member."""

    summary = "Python module without dependencies, in float64"
    missing = (
        "None or NaN is\nmissing; for linear scorers and networks, all values that are not finite are"
        " missing."
    )
    imports = (
        "from math import copysign, exp, inf, isfinite, isnan, log1p, nan, sqrt, tanh\n"
        "from struct import pack, unpack"
    )
    limits = PythonTrees.limits
    of_trees = PythonTrees()
    of_networks = PythonNetwork()

    def code(self, source: SumSource) -> tuple[str, str]:
        """Return the functions of the members with their weights, and the function that adds their scores."""
        numbers = range(1, len(source.parts) + 1)
        tables = _SUM_TABLES.format(
            members="\n\n".join(map(self._member, numbers, source.parts)),
            weights=tuple(part.member.weight for part in source.parts),
            columns=tuple(tuple(part.columns.tolist()) for part in source.parts),
            rounds=tuple(part.member.precision == "float32" for part in source.parts),
            scores=", ".join(f"_member_{number}()" for number in numbers),
        )
        return tables, _SUM_BODY

    def _member(self, number: int, part: Part) -> str:
        source = part.source
        if isinstance(source, TreeSource):
            tables, body = self.of_trees.code(source)
        else:
            tables, body = self.of_networks.code(source)
        code = f"{tables}\n\ndef score(features):\n{body}".rstrip()
        return _MEMBER.format(number=number, code=textwrap.indent(code, "    "))

    def read(self, content: bytes, source: SumSource) -> list[WrittenMember]:
        """Extract the modules of the members."""
        text = content.decode()
        tables = {
            target.id: ast.literal_eval(table.value)
            for table in ast.parse(text).body
            if isinstance(table, ast.Assign)
            and isinstance(target := table.targets[0], ast.Name)
            and target.id in ("WEIGHTS", "COLUMNS")
        }
        codes = [textwrap.dedent(code).encode() for code in _MEMBER_FUNCTION.findall(text)]
        try:
            return [
                WrittenMember(*each) for each in zip(codes, tables["WEIGHTS"], tables["COLUMNS"], strict=True)
            ]
        except (KeyError, ValueError) as error:
            raise ModelError("the members of the export differ from the members of the sum") from error

    def instructions(self, source: SumSource) -> str:
        """Return Python code that replays the golden vectors."""
        return _REPLAY


def _literal(array: npt.NDArray[Any]) -> str:
    """Write an array as a tuple, one row of a matrix per line."""
    if array.ndim == 1:
        return f"({', '.join(map(repr, array.tolist()))},)"
    rows = "\n".join(f"    ({', '.join(map(repr, row))},)," for row in array.tolist())
    return f"(\n{rows}\n)"


def _flat(values: tuple[Any, ...]) -> Iterator[float]:
    for value in values:
        if isinstance(value, tuple):
            yield from _flat(value)
        else:
            yield value
