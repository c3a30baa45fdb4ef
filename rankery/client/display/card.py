"""Cards that show a resource in a terminal or notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape as html_escape
from typing import TYPE_CHECKING, Self

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.table import Table

from rankery.client.display.texts import count, interval, number
from rankery.control_characters import visible

if TYPE_CHECKING:
    from rankery.client.schemas.answers import Finding, MetricSummary

_SHOWN_ROWS = 20
_STYLE = (
    ".rankery-card{margin:.5em 0;font-size:13px;line-height:1.45}"
    ".rankery-card h4{margin:0 0 .3em;font-size:14px}"
    ".rankery-card p{margin:.3em 0}"
    ".rankery-card table{border-collapse:collapse;margin:.4em 0;font-size:13px;"
    "font-variant-numeric:tabular-nums}"
    ".rankery-card caption{text-align:left;opacity:.75;padding:.2em 0}"
    ".rankery-card th,.rankery-card td{text-align:left;padding:.15em .9em .15em 0;background:none;"
    "border:0 solid rgba(128,128,128,.4);border-bottom-width:1px;white-space:pre-wrap;vertical-align:top}"
    ".rankery-card th{font-weight:600}"
    ".rankery-card .number{text-align:right}"
)


@dataclass(frozen=True)
class CardTable:
    """A small table.

    Attributes:
        columns: Names; names of columns of numbers begin with `#`, which is not shown.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""

    @classmethod
    def of_metrics(cls, metrics: "Mapping[str, MetricSummary]") -> Self:
        """Return the table of the means of metrics with their intervals."""
        rows = [
            [name, number(one.mean), interval(one.lower, one.upper), count(one.queries), count(one.skipped)]
            for name, one in metrics.items()
        ]
        return cls(["metric", "#mean", "#95% interval", "#queries", "#undefined"], rows)

    @classmethod
    def of_findings(cls, findings: "Sequence[Finding] | None") -> list[Self]:
        """Return the table of the findings of a resource, in a list; an empty list if there are none."""
        rows = [[finding.severity, finding.title, finding.advice] for finding in findings or ()]
        return [cls(["", "finding", "advice"], rows)] if rows else []


@dataclass(frozen=True)
class Card:
    """A card that shows a resource.

    Attributes:
        facts: Properties by name; empty texts are left out.
        tables: Tables below the properties.
    """

    title: str
    facts: Mapping[str, str] = field(default_factory=dict)
    sentence: str = ""
    tables: Sequence[CardTable] = ()

    def html(self) -> str:
        """Return the card as escaped HTML."""
        parts = [f"<style>{_STYLE}</style><div class='rankery-card'>"]
        if self.title:
            parts.append(f"<h4>{html_escape(self.title)}</h4>")
        if self.sentence:
            parts.append(f"<p>{html_escape(self.sentence)}</p>")
        facts = [
            f"<tr><th scope='row'>{html_escape(name)}</th><td>{html_escape(value)}</td></tr>"
            for name, value in self.facts.items()
            if value
        ]
        if facts:
            parts.append(f"<table><tbody>{''.join(facts)}</tbody></table>")
        parts += map(_html_table, self.tables)
        return "".join([*parts, "</div>"])

    def rendered(self) -> Iterator[RenderableType]:
        """Yield the card's rich renderables."""
        if self.title:
            yield f"[bold]{_text(self.title)}[/bold]"
        if self.sentence:
            yield _text(self.sentence)
        facts = Table.grid(padding=(0, 2))
        for name, value in self.facts.items():
            if value:
                facts.add_row(f"[dim]{_text(name)}[/dim]", _text(value))
        if facts.row_count:
            yield facts
        yield from map(_rich_table, self.tables)


class Displayable(ABC):
    """Base of objects with a rich and HTML display."""

    @abstractmethod
    def summary(self) -> dict[str, str]:
        """Return the texts of the row that represents the object in a list, by column."""

    @abstractmethod
    def card(self) -> Card:
        """Return the card of the resource."""

    def _repr_html_(self) -> str:
        return self.card().html()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        return self.card().rendered()

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value!r}" for name, value in self.summary().items() if value)
        return f"{type(self).__name__.removesuffix('View')}({facts})"

    def __str__(self) -> str:
        return repr(self)


def _text(value: str) -> str:
    """Return a text for rich, with markup and control characters escaped."""
    return escape(visible(value))


def _html_table(table: CardTable) -> str:
    classes = [" class='number'" if name.startswith("#") else "" for name in table.columns]
    head = "".join(
        f"<th scope='col'{kind}>{html_escape(name.removeprefix('#'))}</th>"
        for name, kind in zip(table.columns, classes, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{html_escape(cell)}</td>" for cell, kind in zip(row, classes, strict=True))
        + "</tr>"
        for row in table.rows[:_SHOWN_ROWS]
    )
    caption = f"<caption>{html_escape(_caption(table))}</caption>" if _caption(table) else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _rich_table(table: CardTable) -> Table:
    shown = Table(title=_text(_caption(table)) or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in table.columns:
        is_number = name.startswith("#")
        # Numbers and ids do not wrap, so that they can be read and copied.
        whole = is_number or name == "id" or name.endswith("_id")
        shown.add_column(
            _text(name.removeprefix("#")), justify="right" if is_number else "left", no_wrap=whole
        )
    for row in table.rows[:_SHOWN_ROWS]:
        shown.add_row(*map(_text, row))
    return shown


def _caption(table: CardTable) -> str:
    if len(table.rows) <= _SHOWN_ROWS:
        return table.title
    return f"{table.title}, the first {_SHOWN_ROWS} of {len(table.rows):,}".removeprefix(", ")
