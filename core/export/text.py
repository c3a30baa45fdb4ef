"""Text helpers of the formats: nested trees, numbers, C strings, and Python code for golden vectors."""

import string
from collections.abc import Callable

from core.export.nodes import Nodes

_UNESCAPED_BYTES = frozenset(f"{string.ascii_letters}{string.digits} _.,:;()-+*/@".encode())
EXACT = 'score == golden["score"]'


def nested_texts(
    nodes: Nodes, leaf: Callable[[int], str], split: Callable[[int, str, str], str]
) -> list[str]:
    """Write each tree as nested text, from its leaves up, without recursion.

    Args:
        leaf: Function that writes the leaf at a node.
        split: Function that writes the split at a node, given the texts of its children.

    Returns:
        (n_trees,) texts.
    """
    features, right = nodes.features.tolist(), nodes.right.tolist()
    trees = []
    for tree in range(len(nodes.roots)):
        tree_nodes = nodes.of_tree(tree)
        texts: dict[int, str] = {}
        for node in reversed(tree_nodes):
            if features[node] < 0:
                texts[node] = leaf(node)
            else:
                texts[node] = split(node, texts.pop(node + 1), texts.pop(right[node]))
        trees.append(texts[tree_nodes.start])
    return trees


def float32_text(value: float) -> str:
    """Write a float32 value with nine digits, which any reader parses exactly."""
    return f"{value:.9g}"


def java_float(value: float) -> str:
    """Write a float32 value for Java's `Float.parseFloat`."""
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return float32_text(value)


def decimal(value: float) -> str:
    """Write a float32 value with a point or an exponent, so that C and Java do not read an integer."""
    text = float32_text(value)
    return text if "." in text or "e" in text else f"{text}.0"


def c_literal(text: str) -> str:
    """Write a string literal of C in ASCII; other characters become the octal bytes of their UTF-8."""
    escaped = (chr(byte) if byte in _UNESCAPED_BYTES else f"\\{byte:03o}" for byte in text.encode())
    return f'"{"".join(escaped)}"'


def within_tolerance(tolerance: str) -> str:
    """Return a Python condition that a score equals the golden score up to a relative tolerance."""
    return f'abs(score - golden["score"]) <= {tolerance} * max(1.0, abs(golden["score"]))'


def replay_code(setup: str, scoring: str, condition: str) -> str:
    """Return a Markdown block of Python code that compares an engine's scores with the golden scores.

    Args:
        setup: Lines in front of the loop over the golden vectors, which load the model.
        scoring: Lines of the loop, indented, that score the features in `golden`.
        condition: The condition that a score must meet: `EXACT`, or the result of `within_tolerance`.
    """
    return f"""\
```python
{setup}
for line in open("golden.jsonl", encoding="utf-8"):
    golden = json.loads(line)
{scoring}    assert {condition}, golden["id"]
```
"""
