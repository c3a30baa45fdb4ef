"""Write scores as a TREC run, the format of uploaded rankings of other systems."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankery.array_inputs import is_reordered
from rankery.client.frames import cells
from rankery.client.frames.incoming import as_table
from rankery.client.frames.judged import (
    COLUMNS_BY_ROLE,
    check_roles,
    index_hint,
    query_codes,
    single_column,
)
from rankery.client.references import mapping_of
from rankery.errors import DataUnusable, InvalidArgument
from rankery.identifiers import EXPECTED, EqualSpelling, TrecSpelling, encode_blanks, normalise_ids
from rankery.usual_columns import columns_for

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_SCORES = ("score", "scores", "prediction", "predictions", "pred")
_ROLES = ("query", "document", "score")
_BATCH_ROWS = 100_000
_NO_SCORE = "the run has no score other than NaN, so that no document was retrieved"


def judged_rows(qrels: str) -> tuple[list[str], list[str]]:
    """Return the query and the document id of each row of a dataset, from its qrels."""
    lines = [line.split() for line in qrels.splitlines()]
    return [line[0] for line in lines], [line[2] for line in lines]


def run_of_scores(scores: "np.ndarray[Any, Any]", queries: list[str], documents: list[str]) -> Iterator[str]:
    """Yield a run in blocks of lines, from scores in the order of a dataset's rows.

    Args:
        scores: (n_documents,); NaN where a document was not retrieved.
        queries: (n_documents,) ids without blanks.
        documents: (n_documents,) ids without blanks.

    Raises:
        InvalidArgument: The scores have another shape or are not numbers.
    """
    from rankery.client.frames.arrow import np

    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.shape != (len(queries),):
        raise InvalidArgument(
            f"scores are of shape {scores.shape}, but the dataset has {len(queries):,} documents"
            " with a label; give a score for each row of the dataset, in its order, or a frame with query,"
            " document and score"
        )
    if scores.dtype.kind not in "biuf":
        raise InvalidArgument(f"scores must be numbers, not of type {scores.dtype}")
    scores = scores.astype(np.float64, copy=False)
    if np.isinf(scores).any():
        raise InvalidArgument(f"row {int(np.argmax(np.isinf(scores)))}: the score is infinite")
    if np.isnan(scores).all():
        raise InvalidArgument("all scores are NaN, which means that no document was retrieved")
    for first in range(0, len(scores), _BATCH_ROWS):
        part = slice(first, first + _BATCH_ROWS)
        yield "".join(
            _line(query, document, score)
            for query, document, score in zip(
                queries[part], documents[part], scores[part].tolist(), strict=True
            )
            if score == score
        )


def scores_table(frame: Any, columns: Mapping[str, str] | None = None) -> "pa.Table":
    """Return a frame of scores as `query`, `document` (if it has one) and `score`.

    Args:
        frame: One row per retrieved document.
        columns: Other names of `query`, `document` and `score`.

    Raises:
        DataUnusable: A column is missing, several could be the score, or a score is not a number.
    """
    from rankery.client.frames.arrow import pa

    table, given = as_table(frame), mapping_of(columns or {}, COLUMNS_BY_ROLE)
    names, texts = table.column_names, cells.text_columns(table)
    check_roles(given, _ROLES)
    found = {
        role: given.get(role) or single_column(role, columns_for(role, names, texts))
        for role in ("query", "document")
    }
    found["score"] = given.get("score") or _score_column(names)
    for role, name in found.items():
        if (name is None and role != "document") or (name is not None and name not in names):
            expected = (
                f"column {name!r}" if name else f"column for the {role}; name it in columns={{{role!r}: …}}"
            )
            hint = "" if name else index_hint(frame, role)
            raise DataUnusable(f"there is no {expected} (the frame has {cells.listed(names)}){hint}")
    if found["document"] is None:
        _warn_of_texts(table, found)
    columns_by_role: dict[str, Any] = {"score": _numbers(frame, table, str(found["score"]))}
    for role in ("query", "document"):
        if (name := found[role]) is not None:
            columns_by_role[role] = _identifiers(frame, name, table.column(name))
    run = pa.table(columns_by_role)
    if found["document"] is not None:
        _refuse_repeated_documents(frame, run)
    return run


def _refuse_repeated_documents(frame: Any, run: "pa.Table") -> None:
    """Refuse a document that was retrieved twice for a query."""
    from rankery.client.frames.arrow import np

    retrieved = np.flatnonzero(~np.isnan(run.column("score").to_numpy()))
    queries, documents = (query_codes(run.column(role))[retrieved] for role in ("query", "document"))
    firsts = np.unique(queries * len(run) + documents, return_index=True)[1]
    repeated = np.delete(retrieved, firsts)
    if len(repeated):
        row = int(repeated[0])
        query, document = (run.column(role)[row].as_py() for role in ("query", "document"))
        raise DataUnusable(
            f"{cells.row_text(frame, row)}: document {document!r} is in query {query!r} twice;"
            " keep one of its rows"
        )


def warn_if_reordered(run: Any, queries: "np.ndarray[Any, Any] | None" = None) -> None:
    """Warn about scores that are matched by position although an index of pandas has another order.

    Args:
        queries: (n_rows,) query of each row if only the order within queries counts.
    """
    if is_reordered(run, queries):
        cells.warn(
            "scores are matched by their order, not by the index of pandas, which has another order; call"
            " sort_index() if the index has the rows of the dataset, else reset_index(drop=True)"
        )


def _warn_of_texts(table: "pa.Table", column_by_role: Mapping[str, str | None]) -> None:
    """Warn about the first column of texts of a frame without documents, which may have their ids."""
    texts = (
        field.name
        for field in table.schema
        if cells.is_text(field.type) and field.name not in column_by_role.values()
    )
    if name := next(texts, None):
        cells.warn(
            "no column is the document, so scores are matched by their order within each query; if the column"
            f" {name!r} has the ids of documents, rename it to 'document'"
        )


def _numbers(frame: Any, table: "pa.Table", column: str) -> "pa.ChunkedArray[Any]":
    from rankery.client.frames.arrow import pa, pc

    try:
        return pc.cast(table.column(column), pa.float64())
    except pa.ArrowException as error:
        for row, value in enumerate(table.column(column).to_pylist()):
            if isinstance(value, str):
                raise cells.not_a_number(frame, column, row, value) from error
        raise DataUnusable(
            f"column {column!r} must hold numbers, not {table.schema.field(column).type}"
        ) from error


def _score_column(names: Sequence[str]) -> str | None:
    """Return the column with a usual name of scores; None if there is none."""
    return single_column("score", [name for name in names if name.lower() in _SCORES])


def run_of_table(run: "pa.Table") -> Iterator[str]:
    """Yield a run in blocks of lines, from `query`, `document` and `score`.

    Raises:
        DataUnusable: No row has a score, or two ids have one spelling in a run.
    """
    from rankery.client.frames.arrow import np

    if np.isnan(run.column("score").to_numpy()).all():
        raise DataUnusable(_NO_SCORE)
    spelling = TrecSpelling()
    for first in range(0, len(run), _BATCH_ROWS):
        part = run.slice(first, _BATCH_ROWS)
        columns = (part.column(name).to_pylist() for name in ("query", "document", "score"))
        try:
            yield "".join(
                _line(*spelling.of(query, document), score)
                for query, document, score in zip(*columns, strict=True)
                if score is not None and score == score
            )
        except EqualSpelling as error:
            raise DataUnusable(f"{error}; rename one") from error


def run_of_mapping(run: Mapping[Any, Any]) -> Iterator[str]:
    """Yield the lines of a run from `{query: {document: score}}`, the form of pytrec_eval and ranx.

    Raises:
        DataUnusable: The run has another form or no score, an id is missing or invalid, or a score is not a
            number.
    """
    has_score = False
    for query_id, (query, scores) in zip(_encoded_keys(run, "a query"), run.items(), strict=True):
        if not isinstance(scores, Mapping):
            raise DataUnusable(
                f"a run is {{query: {{document: score}}}}, but query {query!r} has {scores!r:.40}"
            )
        documents = _encoded_keys(scores, f"a document of query {query!r}")
        for document_id, (document, score) in zip(documents, scores.items(), strict=True):
            try:
                number = float(score)
            except (TypeError, ValueError):
                location = f"query {query!r}, document {document!r}"
                raise DataUnusable(f"{location}: the score is {score!r:.40}, not a number") from None
            if number == number:
                has_score = True
                yield _line(query_id, document_id, number)
    if not has_score:
        raise DataUnusable(_NO_SCORE)


def scores_of_rows(run: "pa.Table", queries: list[str]) -> "np.ndarray[Any, Any]":
    """Sort the scores of a frame without a document column into the order of a dataset's rows.

    Args:
        run: `query` and `score`; within each query in the order of the dataset.
        queries: (n_documents,) query ids of the dataset's rows, without blanks.

    Raises:
        DataUnusable: A query's numbers of scores and of documents in the dataset differ.
    """
    from rankery.client.frames.arrow import np

    given = [encode_blanks(str(query)) for query in run.column("query").to_pylist()]
    positions = {query: index for index, query in enumerate(dict.fromkeys(queries))}
    counts, expected = Counter(given), Counter(queries)
    for query in (*expected, *counts):
        if counts[query] != expected[query]:
            raise DataUnusable(
                f"query {query!r} has {counts[query]:,} scores, but {expected[query]:,} documents with a"
                " label in the dataset; give a frame with a column document, or a score for each of them"
            )
    order = np.argsort([positions[query] for query in given], kind="stable")
    return np.asarray(run.column("score").to_numpy()[order])


def _identifiers(frame: Any, name: str, column: "pa.ChunkedArray[Any]") -> "pa.LargeStringArray":
    normalised = normalise_ids(column)
    cells.refuse_invalid_ids(frame, name, column, normalised)
    texts: pa.LargeStringArray = normalised.texts
    if (row := cells.first_missing(texts)) is not None:
        raise DataUnusable(f"{cells.row_text(frame, row)}, column {name!r}: the id is missing")
    cells.warn_of_spellings(f"column {name!r}", column, normalised)
    return texts


def _encoded_keys(by_id: Mapping[Any, Any], noun: str) -> list[str]:
    """Return the keys of a mapping as ids with percent-encoded blanks."""
    keys = list(by_id)
    normalised = normalise_ids(keys)
    for index in normalised.invalid[:1].tolist():
        raise DataUnusable(f"{noun} is {keys[index]!r}; expected {EXPECTED}")
    if (index := cells.first_missing(normalised.texts)) is not None:
        raise DataUnusable(f"{noun} is {keys[index]!r}, which is a missing id")
    cells.warn_of_spellings("the run", keys, normalised)
    spelling = TrecSpelling()
    try:
        return [spelling.of_id(text) for text in normalised.texts.to_pylist()]
    except EqualSpelling as error:
        raise DataUnusable(f"{error}; rename one") from error


def _line(query: str, document: str, score: float) -> str:
    return f"{query} Q0 {document} 1 {score!r} rankery\n"
