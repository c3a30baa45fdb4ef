"""`rankery rank`: rank documents with a model."""

import math
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.models import Reference
from rankery.cli.options import ColumnsOption, columns_of
from rankery.cli.printing import json_text, number, plain, say, show_text, table
from rankery.cli.references import interleaving_of
from rankery.cli.service_options import on_service
from rankery.errors import FileUnusable
from rankery.identifiers import EqualSpelling, TrecSpelling

_STANDARD_INPUT = "-"
_LARGEST = 2.0**127  # limit of scores; half of the largest float32, so that tied scores can still be lowered
_SHOWN_FEATURES = 5


@on_service
def rank(
    session: ServiceConnection,
    model: Reference,
    file: Annotated[
        str,
        typer.Argument(
            help="Queries with their documents: JSON as in the API; CSV, TSV or Parquet with one column per"
            " feature and one for the query; or judged data such as LETOR, whose labels are ignored."
            " - reads standard input."
        ),
    ],
    top: Annotated[
        int | None,
        typer.Option(min=1, help="Number of documents of each query.", show_default="all"),
    ] = None,
    columns: ColumnsOption = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Store the rankings, which users will see, for RANKERY_RANKING_LOG_SHARE of the users.",
        ),
    ] = False,
    user: Annotated[str | None, typer.Option(help="Identifier of the user; stored hashed.")] = None,
    visit: Annotated[
        str | None, typer.Option("--session", help="Identifier of the visit; stored hashed.")
    ] = None,
    interleaving: Annotated[
        str | None, typer.Option(help="Id or name of an interleaving of models; its lists are printed.")
    ] = None,
    trec: Annotated[bool, typer.Option("--trec", help="Print a TREC run instead of tables.")] = False,
    output: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write JSON, or with --trec a run, to this file.")
    ] = None,
) -> None:
    """Rank the documents of a file with a model, best first.

    Features are matched by name: features without a column are missing values, and columns that the model
    does not use are ignored. A table without a query column and without unused columns holds one query.

    Example: `rankery rank web@champion documents.csv --top 10`

    Example: `rankery rank web documents.csv --columns '{"query": "search", "document": "sku"}'`

    Example: `rankery rank web test.txt --trec --output web.run`

    Example: `rankery rank web documents.csv --keep --user ann --json`
    """
    from rankery.candidates import read_candidates
    from rankery.client.documents import MAX_BYTES, MAX_CELLS, MAX_DOCUMENTS, MAX_QUERIES, batches

    if trec and session.json:
        raise WrongUsage("--trec and --json exclude each other; choose one")
    if interleaving is not None:
        interleaving = interleaving_of(session, interleaving)
    resource = session.client.model(model)
    with _input_path(file) as path:
        candidates = read_candidates(path, resource.feature_names, columns_of(columns))
    _report_absent_features(candidates, resource.feature_names, resource.reference)
    ranked: list[dict[str, Any]] = []
    max_documents = min(MAX_DOCUMENTS, MAX_CELLS // len(resource.feature_names))
    for batch in batches(candidates, max_documents, MAX_BYTES, MAX_QUERIES):
        answer = session.client.rank(
            resource, batch, top, keep=keep, user=user, session=visit, interleaving=interleaving
        )
        ranked += [query.model_dump(mode="json", exclude_none=True) for query in answer.queries]
    document = {
        "model": {"id": resource.id, "name": resource.name, "version": resource.version},
        "queries": ranked,
    }
    run = trec_run(ranked, resource.reference, is_interleaved=interleaving is not None) if trec else ""
    if output is not None:
        _write(output, run if trec else json_text(document))
        say(f"wrote {len(ranked):,} ranked queries to {output}")
    elif trec:
        show_text(run)
    else:
        session.show(document, _ranking_table(ranked))


def _report_absent_features(
    candidates: Sequence[dict[str, Any]], features: Sequence[str], model: str
) -> None:
    """Print the features that no document has, such as those of renamed columns."""
    names: set[str] = set()
    for query in candidates:
        for document in query["documents"]:
            if not isinstance(document, dict) or not isinstance(document.get("features", {}), dict):
                return  # a list with all features; or a mistake, which the service reports
            names |= document.get("features", {}).keys()
    absent = [name for name in features if name not in names and name.rpartition(".")[0] not in names]
    if absent:
        shown = ", ".join(absent[:_SHOWN_FEATURES]) + (", …" if len(absent) > _SHOWN_FEATURES else "")
        say(
            f"no document has {shown}: {len(absent)} of the {len(features)} features of {model} are missing"
            " values; check the names of the columns"
        )


@contextmanager
def _input_path(file: str) -> Iterator[Path]:
    """Yield the path of the input; standard input is copied to a temporary file."""
    if file != _STANDARD_INPUT:
        yield Path(file)
        return
    with tempfile.TemporaryDirectory(prefix="rankery-rank-") as folder:
        path = Path(folder) / "standard input"
        with path.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield path


def trec_run(ranked: Sequence[dict[str, Any]], model: str, *, is_interleaved: bool) -> str:
    """Return a run; interleaved lists have -rank as the score, as a run is sorted by score.

    Raises:
        FileUnusable: A run would not distinguish two ids.
    """
    tag, scored_by = f"rankery-{model.replace(':', '-')}", "rank" if is_interleaved else "score"
    sign = -1.0 if is_interleaved else 1.0
    lines, spelling = [], TrecSpelling()
    for query in ranked:
        scores = _distinct_scores(sign * document[scored_by] for document in query["ranking"])
        for document, score in zip(query["ranking"], scores, strict=True):
            try:
                query_id, document_id = spelling.of(query["id"], document["id"])
            except EqualSpelling as error:
                raise FileUnusable(f"{error}; leave out --trec") from error
            lines.append(f"{query_id} Q0 {document_id} {document['rank']} {score:.9g} {tag}\n")
    return "".join(lines)


def _distinct_scores(scores: Iterable[float]) -> Iterator[float]:
    """Yield scores as float32, each below the one before it, as in run files of the service.

    trec_eval reads scores as float32, and breaks ties by document instead of rank.
    """
    lowest = math.inf
    for score in scores:
        (rounded,) = struct.unpack("<f", struct.pack("<f", min(max(score, -_LARGEST), _LARGEST)))
        lowest = rounded if rounded < lowest else _next_below(lowest)
        yield lowest


def _next_below(score: float) -> float:
    """Return the largest float32 below a float32."""
    (bits,) = struct.unpack("<i", struct.pack("<f", score or -0.0))
    (below,) = struct.unpack("<f", struct.pack("<i", bits - 1 if score > 0.0 else bits + 1))
    return float(below)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileUnusable(f"{path} cannot be written: {error.strerror}") from error


def _ranking_table(ranked: Sequence[dict[str, Any]]) -> Table:
    with_id = any("ranking_id" in query for query in ranked)
    names = ("query", "rank", "document", "score", *(["ranking id"] if with_id else []))
    shown = table(*names, right=("rank", "score"))
    for query in ranked:
        for document in query["ranking"]:
            shown.add_row(
                plain(query["id"]) if document["rank"] == 1 else "",
                str(document["rank"]),
                plain(document["id"]),
                number(document.get("score")),
                *([query.get("ranking_id", "") if document["rank"] == 1 else ""] if with_id else []),
            )
        shown.add_section()
    return shown
