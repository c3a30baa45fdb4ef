"""Plot of the rank discounts of metrics."""

import numpy as np

from core.gains import inverse_discounts
from guide.pictures.drawing import Axes, figure, text

_RANKS = 20


def discounts() -> str:
    """Draw the weight of a relevant document at each rank."""
    ranks = np.arange(1, _RANKS + 1, dtype=np.float64)
    lines = {
        "ndcg: 1 / log2(1 + rank)": (inverse_discounts("log2", _RANKS), "one"),
        "mrr, first relevant document: 1 / rank": (inverse_discounts("reciprocal", _RANKS), "two"),
        "rbp, p = 0.8: 0.8 ^ (rank − 1)": (0.8 ** (ranks - 1.0), "three"),
    }
    axes = Axes(48, 16, 640, 220, (1.0, float(_RANKS)), (0.0, 1.02))
    parts = axes.ticks(
        {1.0: "1", 5.0: "5", 10.0: "10", 15.0: "15", 20.0: "20"}, {0.0: "0", 0.5: "½", 1.0: "1"}
    )
    for row, (label, (values, style)) in enumerate(lines.items()):
        parts.append(axes.line(ranks, values, style))
        parts.append(text(420, 36 + 20 * row, label, f"label {style}"))
    parts.append(text(368, 274, "rank", "tick", "middle"))
    return figure(
        710,
        284,
        parts,
        "Three falling lines over the ranks 1 to 20: ndcg falls slowly and is still a quarter at rank 20, rbp"
        " is a hundredth there and mrr a twentieth.",
        "The weight of a relevant document by its rank, relative to rank 1.",
    )
