"""Compare two systems query by query, in memory and without a service."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankery.array_inputs import with_nan
from rankery.client.display.card import Card, Displayable
from rankery.client.frames.incoming import as_table
from rankery.client.frames.outgoing import Tabular
from rankery.client.schemas.answers import ChangedQuery, MetricDifference, Pair
from rankery.client.views.results import pair_table
from rankery.errors import InvalidArgument, convert_invalid_input
from rankery.metrics import Evaluation
from rankery.query_groups import normalised_ids
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from core.types import Float64Array

_QUERY = "query_id"
_SHOWN_IDS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Displayable, Tabular):
    """Comparison of system B with system A, with the statistics of a compare job.

    Attributes:
        names: Names of A and B.
        pair: Conclusion, verdict, and tests of each metric.
    """

    names: tuple[str, str]
    pair: Pair = field(repr=False)

    @property
    def sentence(self) -> str:
        """Conclusion as a sentence."""
        return self.pair.sentence

    @property
    def verdict(self) -> str:
        """Verdict about B by the first metric: better, worse or no evidence."""
        return self.pair.verdict

    @property
    def metrics(self) -> dict[str, MetricDifference | None]:
        """The difference and its tests by metric, None where no query defines it for both."""
        return self.pair.metrics

    @property
    def most_improved(self) -> list[ChangedQuery]:
        """Queries with the largest gain by the first metric, in descending order."""
        return self.pair.most_improved

    @property
    def most_harmed(self) -> list[ChangedQuery]:
        """Queries with the largest loss by the first metric, in descending order."""
        return self.pair.most_harmed

    def to_arrow(self) -> "pa.Table":
        """Return a table with one row for each metric."""
        from rankery.client.frames.arrow import pa

        metrics = {name: tests for name, tests in self.metrics.items() if tests is not None}
        return pa.Table.from_pylist(
            [{"metric": name, **tests.model_dump()} for name, tests in metrics.items()]
        )

    def summary(self) -> dict[str, str]:
        """Return the texts of the row that represents the comparison in a list, by column."""
        return {"a": self.names[0], "b": self.names[1], "sentence": self.sentence}

    def card(self) -> Card:
        """Return the card of the comparison."""
        return Card("comparison", sentence=self.sentence, tables=[pair_table(self.pair, self.names)])


@dataclass(frozen=True, eq=False)
class _Values:
    """Values of one system by metric and query.

    Attributes:
        query_ids: None for an array.
        contracts: Conventions by metric; empty for frames and arrays.
    """

    query_ids: list[str] | None
    by_metric: "Mapping[str, Float64Array]"
    contracts: Mapping[str, Any] = field(default_factory=dict)


def compare(
    a: Any,
    b: Any,
    *,
    names: tuple[str, str] = ("A", "B"),
    metric: str | None = None,
    higher_is_better: Mapping[str, bool] | None = None,
    permutations: int = 100_000,
    seed: int = 42,
) -> Comparison:
    """Compare two systems by their values of the same queries.

    Each system is an `Evaluation`, a data frame, or an array of one metric's values. A frame of pandas,
    polars or Arrow has the column `query_id` and a column for each metric. Queries of frames are matched by
    id, those of a pandas Series by its index, those of other arrays by position.

    Args:
        a: Values of A.
        b: Values of B.
        names: Names of A and B in the sentence.
        metric: The metric that decides, the first column when left out; for arrays, the metric of their
            values.
        higher_is_better: Direction of columns that are not metrics of this library.
        permutations: Random assignments of Fisher's randomisation test.
        seed: Seed of the resampling.

    Raises:
        InvalidArgument: The queries, metrics or conventions of the two differ, a value is infinite, or the
            direction of a column is unknown.
        PackageMissing: rankery-server is not installed.

    Example:
        >>> compare([0.2, 0.4, 0.3], [0.2, 0.4, 0.3], metric="ndcg@10").sentence
        'A and B have the same ndcg@10 on each of 3 queries.'
    """
    require_server_package()
    import numpy as np

    from core.evaluation import compare_systems

    if len(names) != 2:
        raise InvalidArgument(f"names: must be the names of a and b, not {names!r}")
    first, second = _values(a, metric, "a"), _values(b, metric, "b")
    query_ids, rows = _match_queries(first, second)
    decisive = [name for name in first.by_metric if metric is None or name == _rankery_name(metric)]
    if not decisive or set(first.by_metric) != set(second.by_metric):
        raise InvalidArgument(
            f"metric: a has {', '.join(first.by_metric)}, b has {', '.join(second.by_metric)}"
            + (f"; the requested metric is {metric}" if metric else "; both must have the same")
        )
    ordered = dict.fromkeys([decisive[0], *first.by_metric])
    _check_values(first, second)
    compared = compare_systems(
        names,
        {name: np.column_stack([first.by_metric[name], second.by_metric[name][rows]]) for name in ordered},
        {name: _direction(name, higher_is_better or {}) for name in ordered},
        permutations=permutations,
        seed=seed,
    )
    return Comparison(names, Pair.model_validate(compared.pairs[0].to_json(query_ids)))


def _values(system: Any, metric: str | None, argument: str) -> _Values:
    import numpy as np

    if isinstance(system, Evaluation):
        contracts = {name: summary.contract for name, summary in system.metrics.items()}
        return _Values(list(system.query_ids), system.values, contracts)
    if hasattr(system, "columns") or hasattr(system, "column_names"):
        return _frame_values(system, argument)
    try:
        values = np.asarray(with_nan(system), np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{argument}: must be an evaluation, a frame or numbers: {error}") from None
    if values.ndim != 1 or not len(values):
        raise InvalidArgument(f"{argument}: must have one value per query; found the shape {values.shape}")
    index = getattr(system, "index", None)  # the index of a pandas Series; sequences have a method `index`
    has_ids = index is not None and not callable(index)
    ids = _check_unique(_normalised_query_ids(argument, index), argument) if has_ids else None
    return _Values(ids, {_rankery_name(metric) if metric else "value": values})


def _frame_values(frame: Any, argument: str) -> _Values:
    from rankery.client.frames.arrow import pa

    table = as_table(frame)
    if _QUERY not in table.column_names:
        raise InvalidArgument(f"{argument}: has no column query_id; it has {', '.join(table.column_names)}")
    numbers = [
        column
        for column in table.column_names
        if column != _QUERY
        and (pa.types.is_floating(t := table.schema.field(column).type) or pa.types.is_integer(t))
    ]
    if not numbers or not len(table):
        raise InvalidArgument(f"{argument}: must have one row per query, and one numeric column per metric")
    ids = _normalised_query_ids(argument, table.column(_QUERY))
    names = Counter(map(_rankery_name, numbers))
    if len(names) < len(numbers):
        raise InvalidArgument(f"{argument}: has two columns of {names.most_common(1)[0][0]}; leave one out")
    values = {_rankery_name(name): table.column(name).cast(pa.float64()).to_numpy() for name in numbers}
    return _Values(_check_unique(ids, argument), values)


def _normalised_query_ids(argument: str, query_ids: Any) -> list[str]:
    texts: list[Any] = normalised_ids(argument, query_ids, len(query_ids), "query").to_pylist()
    return texts


def _check_unique(query_ids: list[str], argument: str) -> list[str]:
    counts = Counter(query_ids)
    if len(counts) < len(query_ids):
        twice = next(query for query, count in counts.items() if count > 1)
        raise InvalidArgument(f"{argument}: has query {twice!r} twice; give one row per query")
    return query_ids


def _check_values(first: _Values, second: _Values) -> None:
    """Refuse infinite values, and values of one metric by different conventions."""
    import numpy as np

    for argument, system in (("a", first), ("b", second)):
        for name, values in system.by_metric.items():
            if (infinite := np.flatnonzero(np.isinf(values))).size:
                raise InvalidArgument(
                    f"{argument}: {name} is infinite for query {infinite[0]}, counted from 0"
                )
    for name, contract in first.contracts.items():
        if second.contracts.get(name, contract) != contract:
            raise InvalidArgument(
                f"b: {name} follows other conventions than in a; evaluate both with one contract"
            )


def _match_queries(first: _Values, second: _Values) -> "tuple[list[str], np.ndarray[Any, Any]]":
    """Return the queries of A, and the row of each of these queries in B."""
    import numpy as np

    counts = [len(next(iter(system.by_metric.values()))) for system in (first, second)]
    if first.query_ids is None or second.query_ids is None:
        if counts[0] != counts[1]:
            raise InvalidArgument(
                f"b: has {counts[1]:,} values, a has {counts[0]:,}; they are matched by position"
            )
        query_ids = first.query_ids or second.query_ids or [str(number) for number in range(counts[0])]
        return query_ids, np.arange(counts[0])
    rows = {query: row for row, query in enumerate(second.query_ids)}
    if different := sorted(rows.keys() ^ set(first.query_ids)):
        shown = ", ".join(map(repr, different[:_SHOWN_IDS])) + (", …" if len(different) > _SHOWN_IDS else "")
        raise InvalidArgument(
            f"b: must have the queries of a; {len(different):,} are in only one of them: {shown}"
        )
    return first.query_ids, np.array([rows[query] for query in first.query_ids])


def _rankery_name(name: str) -> str:
    """Return the Rankery name of a metric, or the name itself if unknown."""
    from core.errors import InvalidInput
    from core.metrics import metric_name

    try:
        return metric_name(name)
    except InvalidInput:
        return name


def _direction(name: str, directions: Mapping[str, bool]) -> bool:
    """Return whether higher values of a column are better, by `directions` or by the metric of this name.

    Raises:
        InvalidArgument: The direction is unknown, or the metric is averaged geometrically.
    """
    from core.errors import InvalidInput
    from core.metrics import check_differences, parse_metric

    if name == "value" or name in directions:
        return directions.get(name, True)
    try:
        parsed = parse_metric(name)
    except InvalidInput as unknown:
        raise InvalidArgument(
            f"{unknown.problems[0].detail}; or pass higher_is_better={{{name!r}: True}}"
        ) from None
    with convert_invalid_input():
        check_differences(name)
    return parsed.higher_is_better
