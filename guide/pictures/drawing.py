"""Line plots and heat maps as SVG, without a script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from core.types import Float64Array


def figure(width: int, height: int, parts: Sequence[str], description: str, caption: str) -> str:
    """Return a figure with its text alternative, as one block of HTML without empty lines.

    Args:
        width: Width in units of the drawing, which is scaled down to the page width while text stays
            readable.
        height: Height in units of the drawing.
        parts: Parts to draw.
        description: Text alternative for screen readers.
        caption: Caption below the drawing.
    """
    return (
        f'<figure class="picture"><div role="img" tabindex="0" aria-label="{escape(description)}">'
        f'<svg viewBox="0 0 {width} {height}" style="max-width: {width}px">{"".join(parts)}</svg></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def text(x: float, y: float, content: str, style: str = "", anchor: str = "start") -> str:
    """Return a text element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(content)}</text>'


@dataclass(frozen=True)
class Axes:
    """A line plot with axes.

    Attributes:
        left: Left edge of the frame, in units of the drawing.
        top: Top edge of the frame, in the same units.
        width: Width of the frame, in the same units.
        height: Height of the frame, in the same units.
        x: Smallest and largest value of the x axis.
        y: Smallest and largest value of the y axis.
    """

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a pair of values."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + across * self.width, self.top + (1.0 - up) * self.height

    def ticks(self, x_labels: Mapping[float, str], y_labels: Mapping[float, str]) -> list[str]:
        """Draw horizontal grid lines, and tick labels by value."""
        parts = []
        for value, label in y_labels.items():
            x, y = self.at(self.x[0], value)
            parts.append(f'<path class="grid" d="M{x:.1f} {y:.1f}H{self.left + self.width:.1f}"/>')
            parts.append(text(x - 8, y + 4, label, "tick", "end"))
        for value, label in x_labels.items():
            x, y = self.at(value, self.y[0])
            parts.append(text(x, y + 18, label, "tick", "middle"))
        return parts

    def line(self, x: Float64Array, y: Float64Array, style: str) -> str:
        """Draw a line through pairs of values; values outside the y axis are left out."""
        inside = (y >= self.y[0]) & (y <= self.y[1])
        points = [self.at(a, b) for a, b in zip(x[inside], y[inside], strict=True)]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        return f'<path class="line {style}" d="M{path}"/>'


def squares(left: float, top: float, size: float, shares: Float64Array) -> list[str]:
    """Draw a matrix of shares from 0 to 1 as squares, darker for larger values; NaN is not drawn."""
    return [
        f'<rect class="{"empty" if share == 0.0 else "share"}" x="{left + column * size:.1f}"'
        f' y="{top + row * size:.1f}" width="{size - 1:.1f}" height="{size - 1:.1f}"'
        f' fill-opacity="{max(share, 0.1):.2f}"/>'
        for (row, column), share in np.ndenumerate(shares)
        if not np.isnan(share)
    ]
