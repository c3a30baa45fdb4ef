"""`rankery evaluate`: runs of any system measured by judgments, on the terminal or as files."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rankery.local import FilesUnusable, RunEvaluation

Document = Mapping[str, Any]


def show(found: RunEvaluation, console: Console) -> None:
    """Print the means with their intervals, and what may be said of each pair."""
    preset = found.contract["preset"] or "custom"
    table = Table(title=f"mean over queries with its 95% interval, conventions of {preset}")
    table.add_column("metric")
    for run in found.runs:
        table.add_column(escape(run["name"]), justify="right")
    for metric in found.values:
        table.add_row(metric, *(_cell(run["metrics"][metric]) for run in found.runs))
    counts = [next(iter(run["metrics"].values())) for run in found.runs]
    table.add_row("queries", *(f"{count['queries']:,}" for count in counts), style="dim")
    console.print(table)
    for run in found.runs:
        _notes(run, found.only_retrieved, console)
    names = [run["name"] for run in found.runs]
    if len(names) > 2:
        console.print(escape(str(found.sentence)), highlight=False)
    for pair in found.pairs:
        console.print()
        console.print(escape(pair["sentence"]), highlight=False)
        console.print(_tests(pair, f"{names[pair['b']]} − {names[pair['a']]}"))


def as_json(found: RunEvaluation) -> str:
    """Return everything but the values of single queries as JSON."""
    document = asdict(found)
    del document["query_ids"], document["values"]
    return json.dumps(document, indent=2, ensure_ascii=False)


def write_queries(found: RunEvaluation, path: Path) -> None:
    """Write each query's values as CSV: a row a query and run, a column a metric; empty where undefined.

    Raises:
        FilesUnusable: The file cannot be written.
    """
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(_rows(found))
    except OSError as error:
        raise FilesUnusable(f"{path} cannot be written: {error.strerror}") from error


def _rows(found: RunEvaluation) -> Iterator[list[Any]]:
    yield ["query_id", "run", *found.values]
    for place, run in enumerate(found.runs):
        columns = [values[place] for values in found.values.values()]
        for query_id, *row in zip(found.query_ids, *columns, strict=True):
            yield [query_id, run["name"], *("" if value is None else value for value in row)]


def _cell(summary: Document) -> str:
    if summary["mean"] is None:
        return "undefined"
    return f"{summary['mean']:.4f} \\[{summary['lower']:.4f}, {summary['upper']:.4f}]"


def _notes(run: Document, only_retrieved: bool, console: Console) -> None:
    if run["queries_without_results"]:
        counted = "left out" if only_retrieved else "counted, as with trec_eval -c"
        queries = f"judged queries without a result, {counted}: {run['queries_without_results']:,}"
        console.print(f"{escape(run['name'])}: {queries}", style="yellow", highlight=False)
    if run["unknown_queries"]:
        queries = f"queries that are not judged, left out: {run['unknown_queries']:,}"
        console.print(f"{escape(run['name'])}: {queries}", style="yellow", highlight=False)


def _tests(pair: Document, title: str) -> Table:
    table = Table(title=escape(title))
    table.add_column("metric", no_wrap=True)
    for column in ("change", "95% interval", "p", "Holm", "t-test", "+ / = / −"):
        table.add_column(column, justify="right", no_wrap=True)
    for metric, tests in pair["metrics"].items():
        if tests is not None:
            table.add_row(
                metric,
                f"{tests['difference']:+.4f}",
                f"{tests['lower']:+.4f}, {tests['upper']:+.4f}",
                *(_p(tests[name]) for name in ("randomisation_p", "adjusted_p", "t_test_p")),
                f"{tests['wins']} / {tests['ties']} / {tests['losses']}",
            )
    return table


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<.0001" if value < 1e-4 else f"{value:.4f}"
