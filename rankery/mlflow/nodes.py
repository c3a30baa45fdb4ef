"""Tree nodes, parsed from an export in the format `python`."""

import re
from typing import Any

from rankery.errors import AnswerNotUnderstood

_TABLE = re.compile(r"^(?P<name>NODES|ROOTS) = \(\n(?P<rows>.*?)^\)$", re.MULTILINE | re.DOTALL)
_NODE = re.compile(r"    \((-?\d+), (-?[\d.e+-]+|-?inf), (\d), (\d+)\),")
_ROOT = re.compile(r"    (\d+),")


def nodes_of(module: str) -> dict[str, Any]:
    """Return the arrays of tree nodes in a Python module, which is parsed, not run.

    Args:
        module: The text of the export.

    Returns:
        `features`, `values`, `missing` and `right` of each node, and `roots`, as `rankery_pyfunc` takes them.

    Raises:
        AnswerNotUnderstood: The text is not such a module.
    """
    import numpy as np

    tables = {found["name"]: found["rows"].splitlines() for found in _TABLE.finditer(module)}
    nodes = [_NODE.fullmatch(line) for line in tables.get("NODES", [])]
    roots = [_ROOT.fullmatch(line) for line in tables.get("ROOTS", [])]
    if not nodes or not roots or None in nodes or None in roots:
        raise AnswerNotUnderstood(
            "the service's Python export has not the format that this version of rankery expects;"
            " install the version of rankery that the service has"
        )
    features, values, missing, right = zip(*(found.groups() for found in nodes if found), strict=True)
    return {
        "features": np.array(features, np.int64),
        "values": np.array(values, np.float64),
        "missing": np.array(missing, np.int64),
        "right": np.array(right, np.int64),
        "roots": np.array([found[1] for found in roots if found], np.int64),
    }
