"""Join the documents of a run with the judged ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from core.data.dataset import RankingDataset
from core.data.texts import Texts
from core.data.trec.columns import pair_keys
from core.data.trec.run import Run, word
from core.errors import InvalidInput
from core.types import Float32Array, Float64Array, Int64Array
from rankery.identifiers import normalise_column

_BLANK = r"[\s\pZ\x0b\x1c-\x1f\x{85}]"  # whitespace of Python's str.split, as an RE2 expression


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """All documents that were judged or retrieved, sorted by the queries of the dataset.

    Attributes:
        labels: float32 (n_documents,); NaN where a document was not judged.
        scores: float64 (n_documents,); NaN where a document was not retrieved.
        query_boundaries: int64 (n_queries + 1,).
        query_ids: Query ids of the dataset.
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
    """Join a run with a dataset by query and document ids, as run files spell them (blanks percent-encoded).

    Raises:
        InvalidInput: At `/ranking_id` when run and dataset have no query or no document in common, so that
            every metric would be 0. At `/dataset_id` when a query of the dataset repeats a document, so that
            a run is ambiguous.
    """
    written_queries = [_written(Texts.of(ids)).array for ids in (run.query_ids, dataset.query_ids)]
    queries = pc.index_in(*written_queries).fill_null(-1)
    query_of_run = queries.to_numpy().astype(np.int64)
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
    written = Texts.of_parts(_written(dataset.document_ids), _written(retrieved))
    keys = pair_keys(np.concatenate((judged_queries, run_queries)), written.array)
    rows = _rows_of(keys[:n_judged], keys[n_judged:])

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


def _written(identifiers: Texts) -> Texts:
    """Return identifiers as run files spell them.

    Stored rankings may contain other spellings: blanks of the dataset's ids, and `1.0` from earlier releases.
    """
    identifiers = Texts(pc.coalesce(normalise_column(identifiers.array).texts, identifiers.array))
    if not pc.any(pc.match_substring_regex(identifiers.array, _BLANK)).as_py():
        return identifiers
    return Texts.of([word(identifier) for identifier in identifiers])


def _rows_of(judged: Int64Array, keys: Int64Array) -> Int64Array:
    """Return the position of each key among the judged keys, -1 for unknown keys.

    Raises:
        InvalidInput: Two judged keys are equal.
    """
    order = np.argsort(judged, kind="stable")
    ordered = judged[order]
    if (np.diff(ordered) == 0).any():
        raise InvalidInput.at(
            "/dataset_id",
            "has a duplicate document id in a query, so rankings cannot be joined with the dataset by"
            " document id",
        )
    positions = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.where(ordered[positions] == keys, order[positions], -1)
