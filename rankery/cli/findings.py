"""Format the findings of data checks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table

from rankery.cli.printing import plain, table

if TYPE_CHECKING:
    from rankery.client import Evaluation, Job, Model

_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}
_SHOWN_EXAMPLES = 5
_USER = "user"


def counts(statistics: Mapping[str, Any]) -> str:
    """Format the size of judged data: "60 queries, 1,200 documents, 1 feature"."""
    units = {"queries": "query", "documents": "document", "features": "feature"}
    return ", ".join(
        f"{statistics[unit]:,} {one if statistics[unit] == 1 else unit}" for unit, one in units.items()
    )


def findings_table(findings: Sequence[Mapping[str, Any]]) -> Table | str:
    """Return a table of findings in the given order: severity, title, advice and examples."""
    if not findings:
        return "No findings."
    grid = Table.grid(padding=(0, 2, 1, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in findings:
        style = _STYLES[finding["severity"]]
        lines = [f"[bold]{plain(finding['title'])}[/bold]", plain(finding["advice"]), _examples(finding)]
        grid.add_row(f"[{style}]{finding['severity']}[/]", "\n".join(line for line in lines if line))
    return grid


def reading_errors(problem: Mapping[str, Any]) -> Table:
    """Return a table of the errors of a file, those of a table by cause and column.

    Args:
        problem: `errors` and `causes` of a file or dataset that cannot be read.
    """
    unit = next((str(error.get("unit", "line")) for error in problem["errors"] or ()), "line")
    if not problem["causes"]:
        shown = table(unit, "column", "error", right=(unit, "column"), wrap=("error",))
        for error in problem["errors"] or ():
            position = (str(error.get(name) or "") for name in ("line", "column"))
            shown.add_row(*position, plain(error["detail"]))
        return shown
    shown = table("error", "column", "count", f"{unit}s", "cells", right=("count",), wrap=("error", "cells"))
    for cause in problem["causes"]:
        shown.add_row(
            plain(cause["title"]),
            plain(cause["column"] or ""),
            f"{'≥ ' if cause['at_least'] else ''}{cause['count']:,}",
            _with_ellipsis(cause["lines"], cause["count"]),
            _with_ellipsis(cause["texts"], cause["count"]),
        )
    return shown


def findings_below(source: "Evaluation | Job | Model") -> list[RenderableType]:
    """Return the findings of a resource, to print below it; an empty list if there are none."""
    findings = [finding.model_dump(mode="json") for finding in source.findings or ()]
    return ["", findings_table(findings)] if findings else []


def severity_counts(source: "Job | Model") -> str:
    """Count the errors and warnings among the findings of a resource: "1 error, 2 warnings"."""
    counted = []
    for severity in ("error", "warning"):
        number = sum(finding.severity == severity for finding in source.findings or ())
        if number:
            style = _STYLES[severity]
            counted.append(f"[{style}]{number} {severity}{'s' if number > 1 else ''}[/]")
    return ", ".join(counted)


def _with_ellipsis(examples: Sequence[Any], count: int) -> str:
    shown = ", ".join(str(example) for example in examples[:_SHOWN_EXAMPLES])
    return plain(f"{shown}, …" if 0 < min(len(examples), _SHOWN_EXAMPLES) < count else shown)


def _examples(finding: Mapping[str, Any]) -> str:
    examples = finding["examples"]
    if not examples:
        return ""
    shown = ", ".join(plain(str(example)) for example in examples[:_SHOWN_EXAMPLES])
    # The count may be of other objects than the examples: documents, with queries as examples.
    counts_examples = str(finding["unit"]).startswith(str(finding["example_kind"])[:-1])
    is_cut = len(examples) > _SHOWN_EXAMPLES or (counts_examples and finding["count"] > len(examples))
    more = ", …" if is_cut else ""
    kind = finding["example_kind"]
    label = "" if kind == _USER else f"[dim]{kind}[/dim] "  # examples of users begin with the word
    return f"{label}{shown}{more}"
