"""Boxes with arrows between them."""

from collections.abc import Iterable

from guide.pictures.drawing import text

Box = tuple[float, float, float, float, str, str]
"""Left, top, width, height, name and description of a box."""
Arrow = tuple[str, float, float, str]
"""SVG path of an arrow, position (x, y) of its label, and the label."""


def boxes_and_arrows(boxes: Iterable[Box], arrows: Iterable[Arrow]) -> list[str]:
    """Draw boxes and labelled arrows."""
    parts = [
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path class="head" d="M0 0L8 4L0 8Z"/></marker></defs>'
    ]
    for path, x, y, label in arrows:
        parts.append(f'<path class="arrow" d="{path}" marker-end="url(#arrow)"/>')
        parts.append(text(x, y, label, "tick"))
    for x, y, width, height, name, description in boxes:
        parts.append(f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')
        parts.append(text(x + width / 2, y + 24, name, "panel", "middle"))
        parts.append(text(x + width / 2, y + 42, description, "tick", "middle"))
    return parts
