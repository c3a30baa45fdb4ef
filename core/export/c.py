"""Trees as one C file that depends only on the C library."""

import re
import string

from core.export.source_code import SourceCode, rows_of
from core.export.thresholds import ZERO
from core.export.tree_target import TreeSource

_PLAIN = frozenset(f"{string.ascii_letters}{string.digits} _.,:;()-+*/@".encode())
_CODE = """\
/*
 * The model {name}, exported by Rankery: a document's features in, its score out, to the bit as LightGBM's.
 *
 *     double {prefix}_score(const double features[{n_features}]);
 *
 * features are in the order of {prefix}_features; NAN is missing. The higher the score, the better the
 * document ranks. It allocates nothing, keeps nothing and may be called from any thread. Compile as C99 or
 * later, without -ffast-math, which knows no NAN.
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

/* What is missing, and where it goes. */
enum {{ NOTHING, ZERO_LEFT, ZERO_RIGHT, NAN_LEFT, NAN_RIGHT }};

/* LightGBM takes what is no farther from 0 for 0. */
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

double {prefix}_score(const double *features)
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


class C(SourceCode):
    """One file of C99."""

    name = "c"
    filename = "model.c"
    reader = "any C compiler"
    summary = "C99 source without dependencies, exact in float64"

    def write(self, source: TreeSource) -> bytes:
        """Write the file."""
        return _CODE.format(
            name=source.name,
            prefix=prefix_of(source.name),
            n_features=len(source.features),
            features="\n".join(f"    {literal(name)}," for name in source.features),
            zero=ZERO,
            nodes=rows_of(source.nodes, "INFINITY", "    {%d, %s, %d, %d},"),
            roots="\n".join(f"    {root}," for root in source.nodes.roots.tolist()),
        ).encode()

    def instructions(self, source: TreeSource) -> str:
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
    assert score == golden["score"], golden["id"]
```
"""


def prefix_of(name: str) -> str:
    """Return a model's name as the names of functions may begin."""
    prefix = re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")
    return prefix if prefix[:1].isalpha() else f"model_{prefix}"


def literal(text: str) -> str:
    """Write a string literal in ASCII; other characters are written as UTF-8 bytes in octal."""
    return '"' + "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in text.encode()) + '"'
