"""Parse rows of printed numbers."""

from collections.abc import Mapping, Sequence

from core.experiments.paper import Printed


def printed_row(columns: Sequence[str], numbers: str) -> dict[str, Printed]:
    """Read numbers with their marks, one a column; `-` for none.

    Example:
        >>> printed_row(["a", "b"], "73.32 75.35**")["b"].mark
        '**'
    """
    found = dict(zip(columns, numbers.split(), strict=True))
    return {
        column: Printed(float(text.rstrip("*")), text[len(text.rstrip("*")) :])
        for column, text in found.items()
        if text != "-"
    }


def printed_rows(columns: Sequence[str], rows: Mapping[str, str]) -> dict[str, dict[str, Printed]]:
    """Read several rows."""
    return {row: printed_row(columns, numbers) for row, numbers in rows.items()}


def transposed(rows: Mapping[str, Mapping[str, Printed]]) -> dict[str, dict[str, Printed]]:
    """Exchange rows and columns."""
    turned: dict[str, dict[str, Printed]] = {}
    for row, cells in rows.items():
        for column, printed in cells.items():
            turned.setdefault(column, {})[row] = printed
    return turned
