"""Print JSON and tables to standard output, messages to standard error.

All data that the CLI prints go through this module, which escapes their control characters.
"""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Any

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from rankery.control_characters import visible
from rankery.verbosity import is_quiet

# Width of a pipe: a program reads the output, so nothing is truncated or wrapped.
_PIPE_WIDTH = 1000
# Ids such as "job_" and twenty characters are never truncated, so that they can be copied.
_ID_WIDTH = 24
_MIN_WRAPPED_WIDTH = 10


class _Console(Console):
    """A console that escapes control characters in all texts, including those of tables."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


def console(file: IO[str] | None = None) -> Console:
    """Return a console for a stream, by default standard output."""
    stream = file or sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return _Console(file=stream, width=width, highlight=False, emoji=False)


def show_json(document: Any) -> None:
    """Print plain values or client objects as JSON."""
    typer.echo(json_text(document))


def json_line(document: Any) -> str:
    """Return plain values or client objects as JSON in one line."""
    return visible(json.dumps(plain_values(document), ensure_ascii=False), one_line=True)


def json_text(document: Any) -> str:
    """Return plain values or client objects as indented JSON."""
    return visible(json.dumps(plain_values(document), indent=2, ensure_ascii=False))


def show(*renderables: RenderableType) -> None:
    """Print tables and sentences without trailing blanks.

    Right-aligned columns hold numbers, which are never truncated: a table may be wider than the terminal.
    """
    output = console()
    terminal_width = output.width
    with output.capture() as captured:
        for renderable in renderables:
            if isinstance(renderable, Table) and renderable.columns and not renderable.row_count:
                output.print("nothing to list")
                continue
            widths = [_fitted_width(output, one, terminal_width) for one in _bordered_tables(renderable)]
            output.width = max([terminal_width, *widths])
            output.print(renderable, soft_wrap=isinstance(renderable, str))
    for line in captured.get().split("\n")[:-1]:
        typer.echo(line.rstrip())


def _bordered_tables(renderable: RenderableType) -> list[Table]:
    parts = renderable.renderables if isinstance(renderable, Group) else [renderable]
    return [part for part in parts if isinstance(part, Table) and part.box is not None]


def _fitted_width(output: Console, shown: Table, available: int) -> int:
    """Shrink columns of text until a table fits, and return its width, which may still be larger.

    Rich would also shrink numbers, and drop the last columns.
    """
    options = output.options.update(max_width=_PIPE_WIDTH)
    widths, least = [], []
    for column in shown.columns:
        widest = max(output.measure(cell, options=options).maximum for cell in (column.header, *column.cells))
        narrowest = column.min_width or _MIN_WRAPPED_WIDTH
        widths.append(widest)
        least.append(widest if column.justify == "right" else min(widest, narrowest))
    frame = 2 * len(widths) + 1
    while sum(widths) + frame > available and widths != least:
        widths[max(range(len(widths)), key=lambda column: widths[column] - least[column])] -= 1
    for column, width in zip(shown.columns, widths, strict=True):
        column.width = width
    return sum(widths) + frame


def show_text(text: str) -> None:
    """Print text for other programs unchanged; on a terminal, escape control characters."""
    typer.echo(visible(text) if sys.stdout.isatty() else text, nl=False)


def say(sentence: str, *, err: bool = True, always: bool = False) -> None:
    """Print a message with the prefix `rankery:`.

    Args:
        err: Whether to print to standard error, else to standard output.
        always: Whether to print it with --quiet, too.
    """
    if always or not is_quiet():
        typer.echo(f"rankery: {visible(sentence, one_line=True)}", err=err)


def table(*columns: str, right: Sequence[str] = (), wrap: Sequence[str] = ()) -> Table:
    """Return an empty table.

    Args:
        right: Headings of right-aligned columns.
        wrap: Headings of columns that may wrap in a narrow terminal; others are truncated.
    """
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        wraps = column in wrap
        grid.add_column(
            column,
            justify="right" if column in right else "left",
            no_wrap=not wraps,
            overflow="fold" if wraps else "ellipsis",
            min_width=_ID_WIDTH if column == "id" else _MIN_WRAPPED_WIDTH if wraps else None,
        )
    return grid


def titled(title: str, body: Table) -> Group:
    """Put a title above a table; the title may be wider than the table."""
    return Group("", title, body)


def facts(rows: Iterable[tuple[str, Any]]) -> Table:
    """Return a table of names and values, one row each; None values are left out."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value is not None:
            grid.add_row(name, value if isinstance(value, Table) else plain(value))
    return grid


def plain(value: Any) -> str:
    """Escape a text for Rich markup; format integers with thousands separators."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape(visible(str(value), one_line=True))


def number(value: float | None, *, signed: bool = False) -> str:
    """Format a metric's value with four decimals; "undefined" for None."""
    if value is None:
        return "undefined"
    return f"{value:+.4f}" if signed else f"{value:.4f}"


def size(n_bytes: int | None) -> str:
    """Format a number of bytes with a readable unit."""
    from rankery.client.display.texts import size as format_size

    return format_size(n_bytes)


def p_value(value: float | None) -> str:
    """Format a p-value with four decimals, "<.0001" below that; empty for None."""
    from rankery.client.display.texts import p_value as format_p_value

    return format_p_value(value)


def moment(value: datetime | None) -> str:
    """Format a time in UTC, to the minute; empty for None."""
    return "" if value is None else f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"


def age(value: datetime) -> str:
    """Format the time since a moment in the largest unit that gives at least 2: days, hours or minutes.

    Below two minutes, the unit is seconds.

    Example:
        >>> from datetime import timedelta
        >>> age(datetime.now(UTC) - timedelta(hours=50))
        '2d'
    """
    seconds = (datetime.now(UTC) - value).total_seconds()
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)}{unit}"
    return f"{max(0, int(seconds))}s"


def plain_values(thing: Any) -> Any:
    """Convert client objects, also in lists and mappings, to JSON-compatible values."""
    if isinstance(thing, Mapping):
        return {name: plain_values(value) for name, value in thing.items()}
    if isinstance(thing, Sequence) and not isinstance(thing, str):
        return [plain_values(value) for value in thing]
    return thing.model_dump(mode="json", by_alias=True) if hasattr(thing, "model_dump") else thing
