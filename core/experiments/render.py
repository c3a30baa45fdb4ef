"""Render the JSON of a report as Markdown, CSV and LaTeX."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

_CSV_COLUMNS = (
    "table",
    "row",
    "column",
    "unit",
    "ours",
    "lower",
    "upper",
    "queries",
    "mark",
    "p",
    "printed",
    "printed_mark",
    "difference",
    "missing",
    "deviations",
)
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"${character}$" for character in "<>|"},  # other characters in LaTeX's default font
        "τ": r"$\tau$",
        "μ": r"$\mu$",
        "δ": r"$\delta$",
        "σ": r"$\sigma$",
        "λ": r"$\lambda$",
        "Σ": r"$\sum$",
        "∞": r"$\infty$",
        "±": r"$\pm$",
        "−": "$-$",
        "²": r"$^2$",
        "Δ": r"$\Delta$",
    }
)


def number(value: float | None, unit: str) -> str:
    """Format a number with the digits of a unit."""
    if value is None:
        return "–"
    digits = {"fraction": 4, "percent": 2, "milliseconds": 1}.get(unit, 3)
    return f"{value:.{digits}f}"


def to_markdown(report: Json) -> str:
    """Write a report as Markdown."""
    lines = [f"# {report['title']} ({report['year']})", ""]
    lines += report["notes"]
    for table in report["tables"]:
        lines += ["", *_markdown_table(table)]
    return "\n".join(lines) + "\n"


def _markdown_table(table: Json) -> Iterator[str]:
    yield f"## {_title(table)}"
    yield ""
    headings, rows = _headings_and_rows(table)
    yield f"| {' | '.join(headings)} |"
    yield f"| --- |{' ---: |' * (len(headings) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
    if table["test"]:
        yield f"Marks: {table['test']}"
        yield ""
    for judgement in table["claims"]:
        yield f"- **{judgement['verdict']}** — {judgement['statement']} {judgement['sentence']}"
    if table["deviations"]:
        yield ""
        yield "Deviations from the paper's set-up:"
        yield ""
        for position, text in enumerate(table["deviations"], start=1):
            yield f"{position}. {text}"


def to_csv(report: Json) -> str:
    """Write a report as CSV, with one line per cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for table in report["tables"]:
        for cell in table["cells"]:
            printed = cell["printed"] or {}
            deviations = "; ".join(table["deviations"][position - 1] for position in cell["deviations"])
            fields = {name: cell[name] for name in _CSV_COLUMNS if name in cell}
            writer.writerow(
                {
                    **fields,
                    "table": table["name"],
                    "unit": table["unit"],
                    "printed": printed.get("value"),
                    "printed_mark": printed.get("mark"),
                    "deviations": deviations,
                }
            )
    return text.getvalue()


def to_latex(report: Json) -> str:
    """Write a `table` environment for each table; needs the package booktabs."""
    lines = [f"% {report['title']} ({report['year']}). {' '.join(report['notes'])}"]
    for table in report["tables"]:
        headings, rows = _headings_and_rows(table)
        lines += [
            "",
            r"\begin{table}",
            rf"\caption{{{latex(_title(table))}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(headings) - 1)}}}",
            r"\toprule",
            " & ".join(map(latex, headings)) + r" \\",
            r"\midrule",
            *(" & ".join(map(latex, row)) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(
                rf"\par {latex(judgement['verdict'])}: {latex(judgement['statement'])}"
                rf" {latex(judgement['sentence'])}"
                for judgement in table["claims"]
            ),
            *(
                rf"\par [{position}] {latex(text)}"
                for position, text in enumerate(table["deviations"], start=1)
            ),
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Escape a text for LaTeX."""
    return text.translate(_LATEX).replace("–", "--")


def _title(table: Json) -> str:
    units = {"percent": " (percent)", "milliseconds": " (milliseconds)"}
    name = table["name"].replace("-", " ").capitalize()
    return f"{name}: {table['caption']}{units.get(table['unit'], '')}"


def _headings_and_rows(table: Json) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows: our numbers, and printed numbers and differences where available."""
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    extra_columns = {column: _extra_columns(table, column) for column in table["columns"]}
    headings = [""]
    for column in table["columns"]:
        headings += [column, *extra_columns[column]]
    rows = []
    for row in table["rows"]:
        line = [row + _footnotes(cells.get((row, column)) for column in table["columns"])]
        for column in table["columns"]:
            line += _numbers(cells.get((row, column)), table["unit"], extra_columns[column])
        rows.append(line)
    return headings, rows


def _extra_columns(table: Json, column: str) -> list[str]:
    """Return the additional numbers of a column: `printed` and `difference`, one of them or none."""
    cells = [cell for cell in table["cells"] if cell["column"] == column]
    return [name for name in ("printed", "difference") if any(cell[name] is not None for cell in cells)]


def _numbers(cell: Json | None, unit: str, extra_columns: Sequence[str]) -> Sequence[str]:
    if cell is None:
        return ["–"] * (1 + len(extra_columns))
    ours = number(cell["ours"], unit) + cell["mark"]
    if cell["lower"] is not None:
        ours += f" ({number(cell['lower'], unit)} to {number(cell['upper'], unit)})"
    printed = cell["printed"] or {"value": None, "mark": "", "half_width": None}
    text = number(printed["value"], unit) + printed["mark"]
    if printed["half_width"] is not None:
        text += f" ±{number(printed['half_width'], unit)}"
    difference = number(cell["difference"], unit)
    extra = {
        "printed": text,
        "difference": difference if difference.startswith(("-", "–")) else f"+{difference}",
    }
    return [ours, *(extra[name] for name in extra_columns)]


def _footnotes(cells: Iterator[Json | None]) -> str:
    positions = sorted({position for cell in cells if cell for position in cell["deviations"]})
    return f" [{', '.join(map(str, positions))}]" if positions else ""
