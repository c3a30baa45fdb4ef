"""Join the documents of a run with the judged ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from core.data.dataset import RankingDataset
from core.data.texts import Texts
from core.data.trec.columns import pair_keys
from core.data.trec.run import Run
from core.data.trec.spelling import BLANK
from core.errors import InvalidInput
from core.types import Float32Array, Float64Array, Int64Array
from rankery.identifiers import encode_blanks, normalise_column


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """All documents that were judged or retrieved, sorted by the queries of the dataset.

    Attributes:
        labels: float32 (n_documents,); NaN where a document was not judged.
        scores: float64 (n_documents,); NaN where a document was not retrieved.
        query_boundaries: int64 (n_queries + 1,).
        document_ids: Id of each document; within a query, documents of the dataset are first.
        unknown_queries: Number of queries of the run that the dataset lacks; they are left out.
        queries_without_results: Number of queries of the dataset for which the run retrieves nothing.
    """

    labels: Float32Array
    scores: Float64Array
    query_boundaries: Int64Array
    query_ids: tuple[str, ...]
    document_ids: Texts
    unknown_queries: int
    queries_without_results: int

    @property
    def is_retrieved(self) -> npt.NDArray[np.bool_]:
        """(n_documents,) mask of the documents that the run retrieved."""
        return ~np.isnan(self.scores)

    @property
    def is_unjudged(self) -> npt.NDArray[np.bool_]:
        """(n_documents,) mask of the documents that the run retrieved and that were not judged."""
        return self.is_retrieved & np.isnan(self.labels)


def join_run(dataset: RankingDataset, run: Run) -> JudgedRun:
    """Join a run with a dataset by query and document ids.

    An id is the equal id of the dataset, else the one that run files spell so, with blanks percent-encoded.

    Raises:
        InvalidInput: At `/ranking_id` when run and dataset have no query or no document in common, so that
            every metric would be 0. At `/dataset_id` when a query of the dataset repeats a document, so that
            a run is ambiguous.
    """
    ids = Texts.of(dataset.query_ids), Texts.of(run.query_ids)
    query_of_run = _rows_of(ids, (np.zeros(len(ids[0]), np.int64), np.zeros(len(ids[1]), np.int64)))
    is_known = query_of_run >= 0
    if not is_known.any():
        raise InvalidInput.at(
            "/ranking_id",
            "ranks none of the queries of the dataset; use the same ids: the ranking has"
            f" {run.query_ids[0]!r}, the dataset {dataset.query_ids[0]!r}",
        )
    run_queries = np.repeat(query_of_run, np.diff(run.query_boundaries))
    of_known = np.flatnonzero(run_queries >= 0)
    run_queries, scores = run_queries[of_known], run.scores[of_known]
    retrieved = run.document_ids if len(of_known) == len(run.scores) else run.document_ids.take(of_known)

    n_judged = dataset.n_documents
    judged_queries = np.repeat(np.arange(dataset.n_queries), np.diff(dataset.query_boundaries))
    both = Texts.of_parts(dataset.document_ids, retrieved)
    rows = _rows_of((dataset.document_ids, retrieved), (judged_queries, run_queries))

    if len(rows) and (rows < 0).all():
        sides = ((retrieved, run_queries), (dataset.document_ids, judged_queries))
        raise InvalidInput.at("/ranking_id", _none_judged(dataset.query_ids, *sides))
    added = np.flatnonzero(rows < 0)
    all_queries = np.concatenate((judged_queries, run_queries[added]))
    order = np.argsort(all_queries, kind="stable")
    judged_scores = np.full(n_judged, np.nan)
    judged_scores[rows[rows >= 0]] = scores[rows >= 0]
    labels = np.concatenate((dataset.labels, np.full(len(added), np.nan, np.float32)))
    positions = np.concatenate((np.arange(n_judged), n_judged + added))
    sizes = np.bincount(all_queries, minlength=dataset.n_queries)
    return JudgedRun(
        labels=labels[order],
        scores=np.concatenate((judged_scores, scores[added]))[order],
        query_boundaries=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        query_ids=dataset.query_ids,
        document_ids=both.take(positions[order]),
        unknown_queries=int((~is_known).sum()),
        queries_without_results=dataset.n_queries - int(is_known.sum()),
    )


def _none_judged(
    query_ids: Sequence[str], retrieved: tuple[Texts, Int64Array], judged: tuple[Texts, Int64Array]
) -> str:
    """Return a message with example document ids of one query, as the run and the dataset spell them."""
    query = int(retrieved[1][0])
    of_run, of_dataset = (
        ", ".join(repr(identifiers[row]) for row in np.flatnonzero(queries == query)[:3].tolist())
        for identifiers, queries in (retrieved, judged)
    )
    return (
        f"every metric would be 0: 0 of {len(retrieved[1]):,} retrieved documents are judged. In query"
        f" {query_ids[query]!r} the ranking has {of_run}, and the dataset has {of_dataset}; use the"
        " same ids in both"
    )


def _rows_of(ids: tuple[Texts, Texts], queries: tuple[Int64Array, Int64Array]) -> Int64Array:
    """Return the row of the dataset for each row of a run, -1 for rows that the dataset lacks.

    Args:
        queries: (n,) index of the query of each id of the dataset, and of the run.
    """
    # Stored rankings of earlier releases may contain `1.0`.
    dataset, run = (Texts(pc.coalesce(normalise_column(each.array).texts, each.array)) for each in ids)
    rows = _positions(dataset, run, queries, unique=True)
    if not any(pc.any(pc.match_substring_regex(each.array, BLANK)).as_py() for each in (dataset, run)):
        return rows
    is_taken = np.zeros(len(dataset), np.bool_)
    is_taken[rows[rows >= 0]] = True
    written = _positions(_written(dataset), _written(run), queries)
    return np.where((rows < 0) & (written >= 0) & ~is_taken[written], written, rows)


def _written(ids: Texts) -> Texts:
    """Return ids as run files spell them."""
    return Texts.of([encode_blanks(identifier) for identifier in ids])


def _positions(
    dataset: Texts, run: Texts, queries: tuple[Int64Array, Int64Array], *, unique: bool = False
) -> Int64Array:
    """Return the first row of the dataset with the query and id of each row of a run, else -1."""
    keys = pair_keys(np.concatenate(queries), Texts.of_parts(dataset, run).array)
    judged, retrieved = keys[: len(dataset)], keys[len(dataset) :]
    order = np.argsort(judged, kind="stable")
    ordered = judged[order]
    if unique and (np.diff(ordered) == 0).any():
        raise InvalidInput.at(
            "/dataset_id",
            "has a duplicate document id in a query, so rankings cannot be joined with the dataset by"
            " document id",
        )
    positions = np.minimum(np.searchsorted(ordered, retrieved), len(ordered) - 1)
    return np.where(ordered[positions] == retrieved, order[positions], -1)
