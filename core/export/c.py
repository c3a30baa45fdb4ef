"""C export: one source file for a forest, a network or a sum, without further dependencies."""

import re
import textwrap
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from core.errors import ModelError
from core.export.networks.target import NetworkSource
from core.export.source_code import Arrays, NetworkCode, SourceCode, TreeCode, layer_names, tables_of
from core.export.sums.target import MembersTarget, Part, SumSource, WrittenMember
from core.export.target import AnySource
from core.export.text import EXACT, c_literal, decimal, replay_code, within_tolerance
from core.export.thresholds import ZERO
from core.export.tree_target import TreeSource
from core.scorers import Layer
from core.scorers.kernels import EPSILON

_ARRAY = re.compile(r"^static const (?:float|double|int) (\w+)\[\] = \{([^}]*)\};", re.MULTILINE)
_WIDTH = 110  # maximum characters of a comment line
_HEAD = """\
/*
 * The model {name}, exported by Rankery. The function returns the score of a document{precision}.
 *
 *     double {prefix}_score(const double features[{n_features}]);
 *
{contract}
 */
#include <math.h>
#include <stddef.h>

double {prefix}_score(const double *features);
extern const size_t {prefix}_n_features;
extern const char *const {prefix}_features[];

const size_t {prefix}_n_features = {n_features};
const char *const {prefix}_features[] = {{
{features}
}};

"""
_CONTRACT = (
    "features are in the order of {prefix}_features; %s The higher the score, the better the document"
    " ranks. The function is thread-safe and allocates no memory. Compile as C99 or later, without"
    " -ffast-math, which ignores NAN."
)
_TREES = """\
/* Values that a split treats as missing, and the child that they go to. */
enum {{ NOTHING, ZERO_LEFT, ZERO_RIGHT, NAN_LEFT, NAN_RIGHT }};

/* LightGBM treats values up to this magnitude as 0. */
static const double zero = {zero!r};

/*
 * A split: feature, threshold, where missing values go, right child; its left child is the next line.
 * A leaf: -1, value, 0, 0.
 */
struct node {{
    int feature;
    double number;
    int missing;
    int right;
}};

static const struct node nodes[] = {{
{nodes}
}};

/* The first node of each tree. */
static const int roots[] = {{
{roots}
}};

static int goes_left(double value, const struct node *split)
{{
    if (isnan(value)) {{
        if (split->missing >= NAN_LEFT)
            return split->missing == NAN_LEFT;
        value = 0.0;
    }}
    if (-zero <= value && value <= zero) {{
        if (split->missing == ZERO_LEFT || split->missing == ZERO_RIGHT)
            return split->missing == ZERO_LEFT;
        value = 0.0;
    }}
    return value <= split->number;
}}

{function}(const double *features)
{{
    double total = 0.0;
    for (size_t tree = 0; tree < sizeof roots / sizeof roots[0]; tree++) {{
        const struct node *node = &nodes[roots[tree]];
        while (node->feature >= 0)
            node = goes_left(features[node->feature], node) ? node + 1 : &nodes[node->right];
        total += node->number;
    }}
    return total;
}}
"""
_NETWORK = """\
{tables}

/* bias + inputs * weights, with a row of weights for each input; then a layer norm, where there is one. */
struct layer {{
    int n_inputs;
    int n_units;
    const float *weights;
    const float *bias;
    const float *norm_scales;
    const float *norm_shifts;
}};

static const struct layer layers[] = {{
{layers}
}};

enum {{ N_FEATURES = {n_features}, N_LAYERS = {n_layers}, WIDEST = {widest} }};

{enums}{scaled}
static double activated(double value)
{{
    {activation}
}}

static void normalise(double *units, const struct layer *layer)
{{
    double mean = 0.0, squares = 0.0;
    for (int j = 0; j < layer->n_units; j++)
        mean += units[j];
    mean /= layer->n_units;
    for (int j = 0; j < layer->n_units; j++)
        squares += (units[j] - mean) * (units[j] - mean);
    double factor = 1.0 / sqrt(squares / layer->n_units + {epsilon!r});
    for (int j = 0; j < layer->n_units; j++)
        units[j] = (units[j] - mean) * factor * layer->norm_scales[j] + layer->norm_shifts[j];
}}

{function}(const double *features)
{{
    double first[WIDEST], second[WIDEST], *units = first, *next = second;
    for (int feature = 0; feature < N_FEATURES; feature++) {{
        double value = (double)(float)features[feature];
        units[feature] = isfinite(value) ? scaled({value}, feature) : 0.0;
    }}
{indicators}    for (int place = 0; place < N_LAYERS; place++) {{
        const struct layer *layer = &layers[place];
        for (int j = 0; j < layer->n_units; j++)
            next[j] = layer->bias[j];
        for (int i = 0; i < layer->n_inputs; i++)
            for (int j = 0; j < layer->n_units; j++)
                next[j] += units[i] * layer->weights[i * layer->n_units + j];
        if (place < N_LAYERS - 1) {{
            if (layer->norm_scales != NULL)
                normalise(next, layer);
            for (int j = 0; j < layer->n_units; j++)
                next[j] = activated(next[j]);
        }}
        double *swapped = units;
        units = next;
        next = swapped;
    }}
    return units[0];
}}
"""
_SCALED = "static double scaled(double value, int feature)\n{"
_SCALED_BY_KIND = {
    "none": f"{_SCALED}\n    (void)feature;\n    return value;\n}}\n",
    "standard": f"{_SCALED}\n    return (value - means[feature]) / deviations[feature];\n}}\n",
    "rank-gauss": f"""\
/* Interpolates between knots, which ascend; only the last one may be repeated. */
{_SCALED}
    const double *knot = &knots[feature * N_KNOTS], *target = &targets[feature * N_KNOTS];
    int low = 0, high = N_KNOTS - 1;
    if (value <= knot[low])
        return target[low];
    if (value >= knot[high])
        return target[high];
    while (high - low > 1) {{
        int middle = (low + high) / 2;
        if (knot[middle] <= value)
            low = middle;
        else
            high = middle;
    }}
    return target[low] + (value - knot[low]) / (knot[high] - knot[low]) * (target[high] - target[low]);
}}
""",
}
_ACTIVATIONS = {
    "relu": "return value > 0.0 ? value : 0.0;",
    "tanh": "return tanh(value);",
    "sigmoid": """\
if (value >= 0.0)
        return 1.0 / (1.0 + exp(-value));
    value = exp(value);
    return value / (1.0 + value);""",
}
_INDICATORS = """\
    for (int i = 0; i < N_INDICATORS; i++)
        units[N_FEATURES + i] = isfinite((float)features[indicators[i]]) ? 0.0 : 1.0;
"""
# Names in a member's code that may clash with another member's code.
_MEMBER_NAMES = re.compile(
    r"\b(struct (?:node|layer)|nodes|roots|zero|goes_left|NOTHING|(?:ZERO|NAN)_(?:LEFT|RIGHT)"
    r"|layers|N_[A-Z]+|WIDEST|scaled|activated|normalise|means|deviations|knots|targets|indicators"
    r"|(?:weights|bias|norm_scales|norm_shifts)_\d+|score|columns|weighted)\b"
)
_WEIGHTED = """
static const int columns[] = {{
    {columns}
}};

static double weighted(const double *features)
{{
    double chosen[{n_columns}];
    for (int i = 0; i < {n_columns}; i++)
        chosen[i] = {value};
    return {weight!r} * score(chosen);
}}

"""
_MEMBER_HEADING = re.compile(r"^/\* Member \d+ of the sum\. \*/$", re.MULTILINE)
_COLUMNS = re.compile(r"^static const int columns\[\] = \{\n    ([\d, ]+)\n\};", re.MULTILINE)
_WEIGHT = re.compile(r"^    return (\S+) \* score\(chosen\);", re.MULTILINE)


class _C(SourceCode[AnySource]):
    """A C99 file of a model.

    Attributes:
        agreement: Python condition that the scores of the compiled file must meet.
    """

    name = "c"
    filename = "model.c"
    reader = "any C compiler"
    agreement: ClassVar[str]

    @abstractmethod
    def code(self, source: AnySource, function: str) -> str:
        """Return the code after the names of features; its last function, `function`, scores a document."""

    def write(self, source: AnySource) -> bytes:
        """Write the comment, the includes, the names of features and the code."""
        lines = textwrap.wrap(_CONTRACT % self.missing, _WIDTH - len(" * "), break_on_hyphens=False)
        prefix = prefix_of(source.name)
        head = _HEAD.format(
            name=source.name,
            precision=self.precision,
            prefix=prefix,
            contract="\n".join(f" * {line}" for line in lines).format(prefix=prefix),
            n_features=len(source.features),
            features="\n".join(f"    {c_literal(name)}," for name in source.features),
        )
        return f"{head}{self.code(source, f'double {prefix}_score')}".encode()

    def instructions(self, source: AnySource) -> str:
        """Return the compiler command, and Python code that replays the golden vectors by ctypes."""
        function = f"library.{prefix_of(source.name)}_score"
        library = f'library = ctypes.CDLL("./model.so")\n{function}.restype = ctypes.c_double'
        code = replay_code(
            f"import ctypes\nimport json\n\n{library}",
            '    row = [float("nan") if value is None else value for value in golden["features"].values()]\n'
            f"    score = {function}((ctypes.c_double * len(row))(*row))\n",
            self.agreement,
        )
        return f"""\
```sh
cc -O2 -std=c99 -Wall -Wextra -Werror -shared -fPIC -o model.so {self.filename} -lm
```

{code}"""


class CTrees(_C[TreeSource], TreeCode):
    """C source of a forest."""

    summary = "C99 source without dependencies, exact in float64"
    missing = "NAN is missing."
    agreement = EXACT
    row = "    {%d, %s, %d, %d},"
    infinity = "INFINITY"

    def code(self, source: TreeSource, function: str) -> str:
        """Return the tables, and the functions that evaluate them."""
        return _TREES.format(function=function, zero=ZERO, **self.tables(source.nodes))


class CNetwork(_C[NetworkSource], NetworkCode):
    """C source of a linear scorer or a network."""

    summary = "C99 source without dependencies, in float64"
    missing = (
        "values that are not finite are missing. Features are rounded to float first, as in training;"
        " everything else is computed in double."
    )
    agreement = within_tolerance("1e-9")
    activations = _ACTIVATIONS
    log1p = "copysign(log1p(fabs(value)), value)"
    before_log1p = "        units[feature] = isfinite(value) ? scaled("
    before_activation = "static double activated(double value)\n{\n    "

    def code(self, source: NetworkSource, function: str) -> str:
        """Return the tables, and the functions that evaluate them."""
        network, inputs = source.network, source.network.inputs
        sizes = {"N_KNOTS": inputs.knots.shape[1], "N_INDICATORS": len(inputs.indicators)}
        enums = "".join(f"enum {{ {name} = {size} }};\n" for name, size in sizes.items() if size)
        return _NETWORK.format(
            n_features=network.n_features,
            tables="\n".join(_table(name, array) for name, array in tables_of(network).items()),
            layers="\n".join(_layer(index, layer) for index, layer in enumerate(network.layers)),
            n_layers=len(network.layers),
            widest=max(inputs.n_inputs, *(len(layer.bias) for layer in network.layers)),
            enums=enums,
            scaled=_SCALED_BY_KIND[inputs.kind],
            function=function,
            activation=_ACTIVATIONS[network.activation],
            epsilon=EPSILON,
            value=self.log1p if inputs.log1p else "value",
            indicators=_INDICATORS if len(inputs.indicators) else "",
        )

    def arrays(self, text: str) -> Arrays:
        """Parse the tables of the code."""
        return {
            name: [float(number.rstrip("f")) for number in re.findall(r"[^\s,]+", rows)]
            for name, rows in _ARRAY.findall(text)
        }


class CSum(_C[SumSource], MembersTarget):
    """C source of a sum: its members' code, where names end with the member's number: `nodes_of_1`."""

    summary, agreement = CNetwork.summary, CNetwork.agreement
    missing = (
        "NAN is missing; for linear scorers and networks, all values that are not finite are missing."
        " Members trained on floats round features to float first; everything else is computed in double."
    )
    limits = CTrees.limits
    of_trees, of_networks = CTrees(), CNetwork()

    def code(self, source: SumSource, function: str) -> str:
        """Return the code of the members, and the function that adds their weighted scores."""
        members = [self._member(number, part) for number, part in enumerate(source.parts, start=1)]
        terms = " + ".join(f"weighted_of_{number}(features)" for number in range(1, len(members) + 1))
        return f"{''.join(members)}{function}(const double *features)\n{{\n    return {terms};\n}}\n"

    def _member(self, number: int, part: Part) -> str:
        source, function = part.source, "static double score"
        if isinstance(source, TreeSource):
            code = self.of_trees.code(source, function)
        else:
            code = self.of_networks.code(source, function)
        cast = "(double)(float)" if part.member.precision == "float32" else ""
        weighted = _WEIGHTED.format(
            columns=", ".join(map(str, part.columns.tolist())),
            n_columns=len(part.columns),
            value=f"{cast}features[columns[i]]",
            weight=part.member.weight,
        )
        return f"/* Member {number} of the sum. */\n" + _MEMBER_NAMES.sub(rf"\1_of_{number}", code + weighted)

    def read(self, content: bytes, source: SumSource) -> list[WrittenMember]:
        """Extract the code of each member, without the member's number in names, as in a separate export."""
        _, *codes = _MEMBER_HEADING.split(content.decode())
        return [_member_of(re.sub(rf"_of_{number}\b", "", code)) for number, code in enumerate(codes, 1)]


def _member_of(code: str) -> WrittenMember:
    columns, weight = _COLUMNS.search(code), _WEIGHT.search(code)
    if columns is None or weight is None:
        raise ModelError("the members of the export differ from the members of the sum")
    return WrittenMember(code.encode(), float(weight[1]), tuple(map(int, columns[1].split(","))))


def prefix_of(name: str) -> str:
    """Return a model's name as a valid prefix of function names."""
    prefix = re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")
    return prefix if prefix[:1].isalpha() else f"model_{prefix}"


def _table(name: str, array: npt.NDArray[Any]) -> str:
    """Write an array, one row per line; nine digits of a float and 17 of a double are exact."""
    rows = array.reshape(len(array), -1)
    kind = {"f": "float" if array.dtype == np.float32 else "double", "i": "int"}[array.dtype.kind]
    number = (lambda value: f"{decimal(value)}f") if kind == "float" else repr
    lines = "\n".join(f"    {', '.join(map(number, row))}," for row in rows.tolist())
    return f"static const {kind} {name}[] = {{\n{lines}\n}};"


def _layer(index: int, layer: Layer) -> str:
    n_inputs, n_units = layer.weights.shape
    names = ", ".join(name or "NULL" for name in layer_names(index, layer))
    return f"    {{{n_inputs}, {n_units}, {names}}},"
