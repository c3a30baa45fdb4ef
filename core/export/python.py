"""A Python module without dependencies."""

from core.export.source_code import SourceCode, rows_of
from core.export.thresholds import ZERO
from core.export.tree_target import TreeSource

_CODE = '''\
"""The model {name}, exported by Rankery: documents' features in, scores out, to the bit as LightGBM's.

score(features) takes a sequence of {n_features} numbers in the order of FEATURES; None or NaN is missing.
"""

from math import inf, isnan

FEATURES = (
{features}
)

# What is missing, and where it goes.
NOTHING, ZERO_LEFT, ZERO_RIGHT, NAN_LEFT, NAN_RIGHT = range(5)
ZERO = {zero!r}  # LightGBM takes what is no farther from 0 for 0

# A split: feature, threshold, where missing values go, right child; its left child is the next line.
# A leaf: -1, value, 0, 0.
NODES = (
{nodes}
)

# The first node of each tree.
ROOTS = (
{roots}
)


def score(features):
    """Return the score of a document; the higher it is, the better it ranks."""
    if len(features) != len(FEATURES):
        raise ValueError(f"the model needs {{len(FEATURES)}} features, these are {{len(features)}}")
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

'''


class Python(SourceCode):
    """One module, nothing but the standard library."""

    name = "python"
    filename = "model.py"
    reader = "Python"
    summary = "Python module without dependencies, exact in float64"

    def write(self, source: TreeSource) -> bytes:
        """Write the module."""
        return _CODE.format(
            name=source.name,
            n_features=len(source.features),
            features="\n".join(f"    {name!a}," for name in source.features),
            zero=ZERO,
            nodes=rows_of(source.nodes, "inf", "    (%d, %s, %d, %d),"),
            roots="\n".join(f"    {root}," for root in source.nodes.roots.tolist()),
        ).encode()

    def instructions(self, source: TreeSource) -> str:
        """Show it in Python."""
        return """\
```python
import json
import model

for line in open("golden.jsonl", encoding="utf-8"):
    golden = json.loads(line)
    assert model.score(list(golden["features"].values())) == golden["score"], golden["id"]
```
"""
