"""Evaluate run files without a service."""

import csv
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from rankery.cli.measures import means_table, pair_table
from rankery.cli.printing import plain
from rankery.errors import FileUnusable
from rankery.local import RunEvaluation


def runs_tables(evaluation: RunEvaluation) -> Iterator[RenderableType]:
    """Yield the tables of means with intervals, and the conclusion for each pair."""
    yield means_table({run["name"]: run["metrics"] for run in evaluation.runs}, evaluation.contract["preset"])
    for run in evaluation.runs:
        yield from _notes(run, evaluation.only_retrieved)
    names = [run["name"] for run in evaluation.runs]
    if len(names) > 2:
        yield plain(evaluation.sentence)
    for pair in evaluation.pairs:
        yield from ("", plain(pair["sentence"]), pair_table(pair, names))


def runs_as_json(evaluation: RunEvaluation) -> dict[str, Any]:
    """Return the evaluation as JSON values, without the values of single queries."""
    document = asdict(evaluation)
    del document["query_ids"], document["values"]
    return document


def write_queries(evaluation: RunEvaluation, path: Path) -> None:
    """Write per-query values as CSV: one row per query and run, one column per metric, empty if undefined.

    Raises:
        FileUnusable: The file cannot be written.
    """
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(_rows(evaluation))
    except OSError as error:
        raise FileUnusable(f"{path} cannot be written: {error.strerror}") from error


def _rows(evaluation: RunEvaluation) -> Iterator[list[Any]]:
    yield ["query_id", "run", *evaluation.values]
    for index, run in enumerate(evaluation.runs):
        columns = [values[index] for values in evaluation.values.values()]
        for query_id, *row in zip(evaluation.query_ids, *columns, strict=True):
            yield [query_id, run["name"], *("" if value is None else value for value in row)]


def _notes(run: dict[str, Any], only_retrieved: bool) -> Iterator[str]:
    if run["queries_without_results"]:
        counted = "left out" if only_retrieved else "counted, as with trec_eval -c"
        queries = f"judged queries without a result, {counted}: {run['queries_without_results']:,}"
        yield f"[yellow]{plain(run['name'])}: {queries}[/yellow]"
    if run["unknown_queries"]:
        queries = f"queries that are not judged, left out: {run['unknown_queries']:,}"
        yield f"[yellow]{plain(run['name'])}: {queries}[/yellow]"
    judged, retrieved = run["judged_documents"], run["retrieved_documents"]
    if judged < retrieved:
        documents = f"{judged:,} of {retrieved:,} retrieved documents are judged"
        yield f"[yellow]{plain(run['name'])}: {documents}[/yellow]"
