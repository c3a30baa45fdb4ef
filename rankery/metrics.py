"""Evaluate scores in memory, without a service."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rankery.array_inputs import check_same_order, with_nan
from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, number
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas.answers import MetricSummary
from rankery.errors import InvalidArgument, convert_invalid_input
from rankery.query_groups import QueryGroups, group_by_ids, normalised_ids
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    import pyarrow as pa

    from core.types import Float64Array
    from rankery.client.schemas.requests import Contract


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Displayable, Tabular):
    """Metrics of scores by query, with their means and 95 % intervals.

    Attributes:
        query_ids: The queries, in the order in which they first appeared.
        values: (n_queries,) values of each metric, NaN where undefined.
        metrics: Mean, interval and quantiles of each metric, with the contract that it follows.
    """

    query_ids: Sequence[str]
    values: Mapping[str, "Float64Array"] = field(repr=False)
    metrics: Mapping[str, MetricSummary]

    @property
    def means(self) -> dict[str, float | None]:
        """The mean over queries by metric, None where no query defines it."""
        return {name: summary.mean for name, summary in self.metrics.items()}

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row per query: `query_id` and one column per metric, null if undefined."""
        from rankery.client.frames.arrow import pa

        columns = {name: pa.array(values, from_pandas=True) for name, values in self.values.items()}
        return pa.table({"query_id": list(self.query_ids), **columns})

    def summary(self) -> dict[str, str]:
        """Return the texts of the row that represents the evaluation in a list, by column."""
        return {
            "queries": count(len(self.query_ids)),
            **{name: number(one) for name, one in self.means.items()},
        }

    def card(self) -> Card:
        """Return the card of the evaluation."""
        return Card("evaluation", tables=[CardTable.of_metrics(self.metrics)])


def evaluate(
    scores: Any,
    labels: Any,
    query_ids: Any,
    *,
    metrics: str | Sequence[str] = ("ndcg@10",),
    contract: "Contract | None" = None,
    document_ids: Any = None,
    seed: int = 42,
) -> Evaluation:
    """Evaluate scores by labels, query by query, like jobs of the service.

    Columns of pandas, polars or Arrow, arrays and lists are accepted. Rows need not be sorted; they are
    matched by position.

    Args:
        scores: (n_documents,) scores; NaN where a judged document was not retrieved.
        labels: (n_documents,) graded relevance; NaN where a retrieved document was not judged.
        query_ids: (n_documents,) the query of each document.
        metrics: One name, or several: `ndcg@10`, trec_eval's `ndcg_cut_10` or ir_measures' `nDCG@10`.
        contract: Conventions of the metrics: a preset such as `trec_eval`, or a dictionary.
        document_ids: (n_documents,) ids, by which `trec_eval` orders equal scores; row numbers in each query
            when left out.
        seed: Seed of the resampling for intervals.

    Raises:
        InvalidArgument: The shapes do not match, or indexes of pandas are in different orders. Also for an
            infinite score, a repeated document in a query, runs without a judged document, and an unknown
            metric or convention.
        PackageMissing: rankery-server is not installed.

    Example:
        >>> evaluate([0.9, 0.1, 0.4], [0, 1, 1], ["a", "a", "b"], metrics=["RR"]).means
        {'mrr': 0.75}
    """
    require_server_package()
    import numpy as np

    from core.data import RankingDataset
    from core.evaluation import evaluate as measured
    from core.metrics import conventions, metric_name

    given = {"scores": scores, "labels": labels, "query_ids": query_ids, "document_ids": document_ids}
    check_same_order(given)
    ranked = _numbers("scores", scores)
    groups = group_by_ids(query_ids, len(ranked))
    judged = _numbers("labels", labels, len(ranked))
    if (infinite := np.flatnonzero(np.isinf(ranked))).size:
        raise InvalidArgument(f"scores: is infinite for document {infinite[0]}, counted from 0")
    is_retrieved = ranked == ranked
    if is_retrieved.any() and not (is_retrieved & (judged == judged)).any():
        raise InvalidArgument(
            f"labels: 0 of {int(is_retrieved.sum()):,} retrieved documents are judged, so that every metric"
            " would be 0; join scores and labels by the same ids"
        )
    with convert_invalid_input():
        names = list(dict.fromkeys(map(metric_name, [metrics] if isinstance(metrics, str) else metrics)))
        judgments = RankingDataset.from_arrays(
            np.empty((len(ranked), 0)),
            groups.gather(judged),
            groups.boundaries,
            query_ids=groups.query_ids,
            document_ids=None if document_ids is None else _texts(document_ids, groups),
        )
        values = measured(groups.gather(ranked), judgments, names, conventions(contract), seed=seed)
    summaries = {name: MetricSummary.model_validate(one) for name, one in values.to_json().items()}
    return Evaluation(groups.query_ids, values.per_query, summaries)


def _numbers(argument: str, values: Any, length: int | None = None) -> "Float64Array":
    import numpy as np

    if isinstance(values, Mapping):
        raise InvalidArgument(
            f"{argument}: must be one number per document, not a dictionary; join run and judgments, such as"
            " {query: {document: score}}, to columns of scores, labels, query_ids and document_ids"
        )
    try:
        numbers = np.asarray(with_nan(values), np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{argument}: must be numbers: {error}") from None
    if numbers.ndim != 1 or not len(numbers) or (length is not None and len(numbers) != length):
        expected = "one number per document" if length is None else f"one number per document, {length:,}"
        raise InvalidArgument(f"{argument}: must be {expected}; found the shape {numbers.shape}")
    return numbers


def _texts(document_ids: Any, groups: QueryGroups) -> list[str]:
    texts = normalised_ids("document_ids", document_ids, int(groups.boundaries[-1]), "id")
    names: list[str] = groups.gather(texts.to_numpy(zero_copy_only=False)).tolist()
    for query, (first, last) in enumerate(pairwise(groups.boundaries.tolist())):
        if len(set(names[first:last])) < last - first:
            repeated = next(name for name, times in Counter(names[first:last]).items() if times > 1)
            raise InvalidArgument(
                f"document_ids: has {repeated!r} twice in query {groups.query_ids[query]!r};"
                " each document of a query has one score"
            )
    return names
