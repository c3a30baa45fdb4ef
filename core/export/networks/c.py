"""Networks as one C file that depends only on the C library."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.export.c import literal, prefix_of
from core.export.nested import float32_text
from core.export.networks.source_code import Arrays, SourceCode, tables_of
from core.export.networks.target import NetworkSource
from core.scorers.kernels import EPSILON

_ARRAY = re.compile(r"^static const (?:float|double|int) (\w+)\[\] = \{([^}]*)\};", re.MULTILINE)
_HEAD = """\
/*
 * The model {name}, exported by Rankery: a document's features in, its score out.
 *
 *     double {prefix}_score(const double features[{n_features}]);
 *
 * features are in the order of {prefix}_features; what is not finite is missing. They are rounded to float
 * first, as the model's training data were; everything else is computed in double. The higher the score, the
 * better the document ranks. It allocates nothing, keeps nothing and may be called from any thread. Compile
 * as C99 or later, without -ffast-math, which knows no NAN.
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

"""
_SCALED = {
    "none": """\
static double scaled(double value, int feature)
{
    (void)feature;
    return value;
}
""",
    "standard": """\
static double scaled(double value, int feature)
{
    return (value - means[feature]) / deviations[feature];
}
""",
    "rank-gauss": """\
/* Interpolates between knots; equal ones stand at the end. */
static double scaled(double value, int feature)
{
    const double *knot = &knots[feature * N_KNOTS], *target = &targets[feature * N_KNOTS];
    int low = 0, high = N_KNOTS - 1;
    if (value <= knot[low])
        return target[low];
    if (value >= knot[high])
        return target[high];
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (knot[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return target[low] + (value - knot[low]) / (knot[high] - knot[low]) * (target[high] - target[low]);
}
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
_BODY = """
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

double {prefix}_score(const double *features)
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


class C(SourceCode):
    """One file of C99."""

    name = "c"
    filename = "model.c"
    reader = "any C compiler"
    summary = "C99 source without dependencies, in float64"
    log1p = "copysign(log1p(fabs(value)), value)"
    before_log1p = "        units[feature] = isfinite(value) ? scaled("
    before_activation = "static double activated(double value)\n{\n    "

    def activations(self) -> Mapping[str, str]:
        """Return the code of each activation."""
        return _ACTIVATIONS

    def write(self, source: NetworkSource) -> bytes:
        """Write the file."""
        network, inputs = source.network, source.network.inputs
        tables = tables_of(network)
        enums = "".join(
            f"enum {{ {name} = {size} }};\n"
            for name, size in (("N_KNOTS", inputs.knots.shape[1]), ("N_INDICATORS", len(inputs.indicators)))
            if size
        )
        head = _HEAD.format(
            name=source.name,
            prefix=prefix_of(source.name),
            n_features=network.n_features,
            features="\n".join(f"    {literal(name)}," for name in source.features),
            tables="\n".join(_table(name, array) for name, array in tables.items()),
            layers="\n".join(_layer(place, network.layers[place]) for place in range(len(network.layers))),
            n_layers=len(network.layers),
            widest=max(inputs.n_inputs, *(len(layer.bias) for layer in network.layers)),
        )
        body = _BODY.format(
            prefix=prefix_of(source.name),
            activation=_ACTIVATIONS[network.activation],
            epsilon=EPSILON,
            value=self.log1p if inputs.log1p else "value",
            indicators=_INDICATORS if len(inputs.indicators) else "",
        )
        return f"{head}{enums}{_SCALED[inputs.kind]}{body}".encode()

    def arrays(self, text: str) -> Arrays:
        """Read the tables."""
        return {
            name: [float(number.rstrip("f")) for number in numbers.split(",") if number]
            for name, numbers in ((name, re.sub(r"\s", "", rows)) for name, rows in _ARRAY.findall(text))
        }

    def instructions(self, source: NetworkSource) -> str:
        """Show the compiler, and the golden vectors by ctypes."""
        return f"""\
```sh
cc -O2 -std=c99 -Wall -Wextra -Werror -shared -fPIC -o model.so {self.filename} -lm
```

```python
import ctypes
import json

library = ctypes.CDLL("./model.so")
library.{prefix_of(source.name)}_score.restype = ctypes.c_double
for line in open("golden.jsonl", encoding="utf-8"):
    golden = json.loads(line)
    row = [float("nan") if value is None else value for value in golden["features"].values()]
    score = library.{prefix_of(source.name)}_score((ctypes.c_double * len(row))(*row))
    assert abs(score - golden["score"]) <= 1e-9 * max(1.0, abs(golden["score"])), golden["id"]
```
"""


def _table(name: str, array: npt.NDArray[Any]) -> str:
    """Write an array a row a line; nine digits of a float, 17 of a double make the same number again."""
    rows = array.reshape(len(array), -1)
    kind = {"f": "float" if array.dtype == np.float32 else "double", "i": "int"}[array.dtype.kind]
    lines = "\n".join(f"    {', '.join(_number(value, kind) for value in row)}," for row in rows.tolist())
    return f"static const {kind} {name}[] = {{\n{lines}\n}};"


def _number(value: float, kind: str) -> str:
    if kind != "float":
        return repr(value)
    text = float32_text(value)
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _layer(place: int, layer: Any) -> str:
    n_inputs, n_units = layer.weights.shape
    norms = ", ".join(
        "NULL" if getattr(layer, name) is None else f"{name}_{place}"
        for name in ("norm_scales", "norm_shifts")
    )
    return f"    {{{n_inputs}, {n_units}, weights_{place}, bias_{place}, {norms}}},"
