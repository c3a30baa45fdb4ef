"""Terminal tables of experiment reports."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from rankery.cli.printing import p_value, plain, table, titled

Json = Mapping[str, Any]

_DIGITS = {"fraction": 4, "percent": 2, "milliseconds": 1}
_DEFAULT_DIGITS = 3
_COLOURS = {"held": "green", "not-shown": "yellow", "contradicted": "red"}
_VERDICTS = {"held": "held", "not-shown": "not shown", "contradicted": "contradicted"}


def report_tables(report: Json) -> Iterator[RenderableType]:
    """Yield the tables of a report, with the verdicts on claims and the deviations from the paper."""
    for note in report["notes"]:
        yield plain(note)
    for each in report["tables"]:
        unit = each["unit"]
        name = each["name"].replace("-", " ").capitalize()
        yield titled(f"[bold]{plain(name)}[/bold]: {plain(each['caption'])} ({plain(unit)})", _numbers(each))
        if each["test"]:
            yield f"[dim]marks: {plain(each['test'])}[/dim]"
        if each["claims"]:
            yield _claims(each["claims"])
        for index, text in enumerate(each["deviations"], start=1):
            yield f"[dim]{index}. {plain(text)}[/dim]"


def estimate_tables(estimate: Json) -> Iterator[RenderableType]:
    """Yield the estimate of a dry run and the measurements behind it."""
    yield f"[bold]{plain(estimate['sentence'])}[/bold]"
    numbers = ("leaves", "trainings", "ms per tree or epoch", "s of other work")
    measurements = table("method", "loss", *numbers, "remark", right=numbers, wrap=("remark",))
    for each in estimate["measured"]:
        per_tree, other = each["seconds_per_tree"], each["other_seconds"]
        per_evaluation = each["seconds_per_look"]
        remark = each["failure"] or (
            "" if per_evaluation is None else f"{per_evaluation:.1f} s per evaluation of the diagnostics"
        )
        measurements.add_row(
            plain(each["method"]),
            plain(each["loss"]),
            plain(each["leaves"] or each.get("scorer", "")),
            plain(each["runs"]),
            "" if per_tree is None else f"{1e3 * per_tree:,.1f}",
            "" if other is None else f"{other:,.1f}",
            plain(remark),
        )
    yield measurements


def _numbers(paper_table: Json) -> Any:
    """Return the numbers of a table, with footnotes for deviations and a row for each missing cell."""
    cells = {(cell["row"], cell["column"]): cell for cell in paper_table["cells"]}
    extra = {column: _extra_columns(paper_table, column) for column in paper_table["columns"]}
    headings: list[str] = []
    for column, names in extra.items():
        headings += [column, *(f"{column} printed" if name == "printed" else name for name in names)]
    numbers = table("", *map(plain, headings), right=tuple(map(plain, headings)), wrap=("",))
    missing = set()
    for row in paper_table["rows"]:
        texts: list[str] = []
        for column in paper_table["columns"]:
            cell = cells.get((row, column))
            texts += _texts(cell, paper_table["unit"], extra[column])
            if cell is not None and cell["missing"] and cell["missing"] != "printed only":
                missing.add((row, column, cell["missing"]))
        notes = sorted(
            {place for (at, _), cell in cells.items() if at == row for place in cell["deviations"]}
        )
        footnotes = f" [dim]({', '.join(map(str, notes))})[/dim]" if notes else ""
        numbers.add_row(plain(row) + footnotes, *texts)
    for row, column, reason in sorted(missing):
        numbers.add_row(f"[yellow]{plain(row)}, {plain(column)}: {plain(reason)}[/yellow]")
    return numbers


def _extra_columns(paper_table: Json, column: str) -> list[str]:
    """Return the extra columns beside our numbers: `printed` and `difference`, if any cell has them."""
    cells = [cell for cell in paper_table["cells"] if cell["column"] == column]
    return [name for name in ("printed", "difference") if any(cell[name] is not None for cell in cells)]


def _texts(cell: Json | None, unit: str, extra: Sequence[str]) -> Sequence[str]:
    if cell is None:
        return [""] * (1 + len(extra))
    ours = _number(cell["ours"], unit) + plain(cell["mark"])
    if cell["lower"] is not None:
        ours += f"\n[dim]{_number(cell['lower'], unit)} to {_number(cell['upper'], unit)}[/dim]"
    printed = cell["printed"] or {"value": None, "mark": ""}
    difference = _number(cell["difference"], unit)
    shown = {
        "printed": _number(printed["value"], unit) + plain(printed["mark"]),
        "difference": difference if difference.startswith("-") or not difference else f"+{difference}",
    }
    return [ours, *(shown[name] for name in extra)]


def _claims(claims: Sequence[Json]) -> Any:
    claim_table = table("claim", "verdict", "effect", "p", right=("effect", "p"), wrap=("claim",))
    for claim in claims:
        verdict = claim["verdict"]
        effect = claim["effect"]
        claim_table.add_row(
            f"{plain(claim['statement'])} [dim]{plain(claim['sentence'])}[/dim]",
            f"[{_COLOURS[verdict]}]{_VERDICTS[verdict]}[/{_COLOURS[verdict]}]",
            "" if effect is None else f"{effect:+.3f}",
            p_value(claim["p"]),
        )
    return claim_table


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.{_DIGITS.get(unit, _DEFAULT_DIGITS)}f}"
