"""Plot of pairwise losses by the difference of scores."""

import numpy as np

from core.losses import make_loss
from core.types import Float64Array
from guide.pictures.drawing import Axes, figure, text

_STYLES = {"ranknet": "one", "ranksvm": "two", "rankboost": "three"}
_LABELS = {
    "ranknet": "logistic: ranknet and most others",
    "ranksvm": "hinge: ranksvm",
    "rankboost": "exponential: rankboost",
}


def pairwise_losses() -> str:
    """Draw the three shapes of pairwise losses."""
    margins = np.linspace(-3.0, 3.0, 121)
    axes = Axes(40, 16, 560, 220, (-3.0, 3.0), (0.0, 4.2))
    parts = axes.ticks({float(x): f"{x}" for x in range(-3, 4)}, {float(y): str(y) for y in range(5)})
    for name, style in _STYLES.items():
        parts.append(axes.line(margins, costs(name, margins), style))
    for row, (name, style) in enumerate(_STYLES.items()):
        parts.append(text(352, 40 + 20 * row, _LABELS[name], f"label {style}"))
    axis = "s_i − s_j: score of the better document minus score of the other (σ = 1)"
    parts.append(text(320, 274, axis, "tick", "middle"))
    return figure(
        620,
        284,
        parts,
        "Three falling lines over the score difference of a pair: the logistic and the hinge grow linearly"
        " for pairs in the wrong order, the exponential explodes; the hinge is zero beyond one.",
        "The cost of one pair. A steeper line means a larger gradient.",
    )


def costs(name: str, margins: Float64Array) -> Float64Array:
    """Return the loss of one pair at each difference of scores."""
    loss = make_loss(name)
    labels, boundaries = np.array([1.0, 0.0]), np.array([0, 2])
    return np.array([loss(np.array([margin, 0.0]), labels, boundaries).value[0] for margin in margins])
