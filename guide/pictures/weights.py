"""Heat maps of pair weights by rank, for each loss."""

import numpy as np

from core.losses import make_loss
from core.types import Float64Array
from guide.pictures.drawing import figure, squares, text

_DOCUMENTS = 12
_SQUARE = 11.0
_PANELS = ("ranknet", "lambdarank", "ndcg-loss2", "ndcg-loss2++")
_GAP = 1e-6  # between neighbours' scores: enough to rank them, negligible in the logistic function


def weights() -> str:
    """Draw the weight of each pair of a relevant and an irrelevant document, by their ranks."""
    parts = []
    side = _DOCUMENTS * _SQUARE
    for panel, name in enumerate(_PANELS):
        left = 40 + panel * (side + 42)
        parts.append(text(left, 18, name, "panel"))
        parts += squares(left, 30, _SQUARE, pair_weights(name))
        for rank in (1, 6, 12):
            middle = 30 + (rank - 0.5) * _SQUARE + 3
            parts.append(text(left - 6, middle, str(rank), "tick", "end"))
            parts.append(text(left + (rank - 0.5) * _SQUARE, 30 + side + 14, str(rank), "tick", "middle"))
    parts.append(
        text(40, 30 + side + 34, "down: rank of the relevant document · across: rank of the other", "tick")
    )
    return figure(
        int(40 + len(_PANELS) * (side + 42) - 30),
        int(side + 74),
        parts,
        "Four squares of pair weights by the two documents' ranks: all alike for ranknet; for lambdarank"
        " large where one of the two is at the top; for ndcg-loss2 large near the diagonal, between"
        " neighbours; for ndcg-loss2++ both.",
        "The weight of a pair by the ranks of its two documents, relative to the largest of each loss.",
    )


def pair_weights(name: str) -> Float64Array:
    """Return the pair weights as shares of the largest, (rank of relevant, rank of irrelevant document)."""
    shares = np.full((_DOCUMENTS, _DOCUMENTS), np.nan)
    scores = -_GAP * np.arange(_DOCUMENTS)
    loss = make_loss(name)
    for rank in range(_DOCUMENTS):
        labels = np.zeros(_DOCUMENTS)
        labels[rank] = 1.0
        gradient = loss(scores, labels, np.array([0, _DOCUMENTS])).gradient
        shares[rank] = np.where(labels > 0.0, np.nan, gradient)
    whole: Float64Array = shares / np.nanmax(shares)
    return whole
