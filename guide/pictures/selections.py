"""Heat maps of the pairs that truncation keeps and Lambda-eX adds."""

import numpy as np

from core.losses import make_loss
from core.types import Float64Array
from guide.pictures.drawing import figure, squares, text

# Labels of a ranking of twelve documents, best score first: the top three lack the labels 4 and 3.
LABELS = (1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 1.0, 4.0, 0.0, 1.0, 0.0)
_LEVEL = 3
_SQUARE = 11.0
_PANELS = {"no truncation": {}, "truncation": {"truncation_level": _LEVEL}} | {
    f"Lambda-eX {name}": {"truncation_level": _LEVEL, "pair_selection": name} for name in ("static", "all")
}


def selections() -> str:
    """Draw the pairs with a gradient, by the ranks of their documents."""
    side = len(LABELS) * _SQUARE
    parts = []
    for panel, (name, options) in enumerate(_PANELS.items()):
        left = 46 + panel * (side + 42)
        parts.append(text(left, 18, name, "panel"))
        parts += squares(left, 30, _SQUARE, pairs(**options))
        for rank, label in enumerate(LABELS):
            middle = 30 + (rank + 0.5) * _SQUARE + 3
            parts.append(text(left - 5, middle, f"{label:.0f}", "tick", "end"))
    parts.append(text(46, 30 + side + 18, "rows and columns: documents by rank, with their labels", "tick"))
    return figure(
        int(46 + len(_PANELS) * (side + 42) - 30),
        int(side + 60),
        parts,
        "Four squares of pairs of twelve ranked documents. Without truncation all pairs of different labels"
        " count. Truncated at three, only pairs with one of the first three documents count."
        " Lambda-eX adds the pairs of the documents with labels 3 and 4 that the first three have missed.",
        f"The pairs with a gradient, of twelve documents with τ = {_LEVEL}. With truncation, documents with"
        " labels 3 and 4, at ranks 5 and 9, have pairs only with the first three documents;"
        " Lambda-eX adds the others.",
    )


def pairs(**options: object) -> Float64Array:
    """Return 1 for each pair with a gradient, 0 for other pairs above the diagonal, and NaN elsewhere."""
    n = len(LABELS)
    matrix = np.full((n, n), np.nan)
    for above in range(n):
        for below in range(above + 1, n):
            matrix[above, below] = float(LABELS[above] != LABELS[below] and _is_pair(above, below, **options))
    return matrix


def _is_pair(above: int, below: int, **options: object) -> bool:
    """Return whether two documents form a pair: the gradient of one changes with the score of the other."""
    n = len(LABELS)
    scores = -np.arange(n, dtype=np.float64)
    moved = scores.copy()
    moved[above] += 0.5
    loss, labels, boundaries = make_loss("ranknet", **options), np.array(LABELS), np.array([0, n])
    before, after = (loss(s, labels, boundaries).gradient for s in (scores, moved))
    return bool(before[below] != after[below])
