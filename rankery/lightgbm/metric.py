"""A metric as LightGBM's `feval` or `eval_metric`."""

import math
from typing import TYPE_CHECKING, Any

from rankery.errors import convert_invalid_input
from rankery.lightgbm.boosters import StateByBooster
from rankery.lightgbm.judged_queries import JudgedQueries, LightGBMCall
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    from core.metrics import Metric
    from core.types import Float64Array
    from rankery.client.schemas.requests import Contract


def metric(name: str, contract: "Contract | None" = None) -> "RankingMetric":
    """Return a metric for `feval` of `lightgbm.train` and `lightgbm.cv`, or `eval_metric` of `LGBMRanker`.

    LightGBM's own metrics may have the same name; `metric="None"` of its parameters leaves them out.

    Args:
        name: Name such as `ndcg@10`, trec_eval's `ndcg_cut_10` or ir_measures' `nDCG@10`.
        contract: Conventions: a preset such as `trec_eval`, or a dictionary.

    Raises:
        InvalidArgument: The metric or a convention is unknown.
        PackageMissing: rankery-server is not installed.

    Example:
        >>> metric("nDCG@10", contract="trec_eval")
        metric('ndcg@10', contract='trec_eval')
    """
    require_server_package()
    from core.metrics import metric_name, parse_metric

    with convert_invalid_input():
        return RankingMetric(metric_name(name), parse_metric(name, contract))


class RankingMetric:
    """A metric that LightGBM calls for its unweighted mean over queries, as jobs report it.

    Args:
        name: Name in the output of LightGBM.
        metric: The metric with its conventions.
    """

    def __init__(self, name: str, metric: "Metric") -> None:
        self.name = name
        self.metric = metric
        self._judgments: StateByBooster[_Judgments] = StateByBooster()

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Return name, mean and whether higher is better; the mean is NaN if no query defines the metric.

        Args:
            first: The scores from `lightgbm.train`, or the labels from `LGBMRanker`.
            second: The `lightgbm.Dataset` from `lightgbm.train`, or the scores from `LGBMRanker`.
            weight: Weights, which metrics do not use.
            group: (n_queries,) number of documents of each query, passed by `LGBMRanker` alone.

        Raises:
            InvalidArgument: Groups are missing or wrong, or the metric cannot use a label.
        """
        call = LightGBMCall.of(first, second, weight, group)
        judgments = self._judgments.of(call.scores, lambda: _Judgments(self.metric, call))
        mean = judgments.mean(call)
        return self.name, math.nan if mean is None else mean, self.metric.higher_is_better

    def __repr__(self) -> str:
        from core.metrics import preset_of

        contract = preset_of(self.metric.conventions) or self.metric.contract()
        return f"metric({self.name!r}, contract={contract!r})"


class _Judgments:
    """The judgments of one dataset of a booster, sorted once."""

    def __init__(self, metric: "Metric", call: LightGBMCall) -> None:
        self._metric = metric
        call.check_whole_queries()
        self._sort(call.queries)

    def mean(self, call: LightGBMCall) -> float | None:
        from core.metrics import measure_all

        if not self._queries.equals(call.queries):
            self._sort(call.queries)
        with convert_invalid_input():
            values: Float64Array = measure_all(
                {"": self._metric}, call.scores, self._ideal, self._document_ids
            )[""]
        return self._metric.mean(values)

    def _sort(self, queries: JudgedQueries) -> None:
        from core.data.labels import LabelRange
        from core.data.texts import row_numbers
        from core.machine import available_cpus
        from core.metrics import ideal_labels
        from core.ranges import use_threads

        labels = LabelRange.of(queries.labels)
        with convert_invalid_input():
            labels.check()
            self._metric.check_labels(labels.representatives())
        use_threads(available_cpus())
        self._queries = queries.copied()
        self._ideal = ideal_labels(queries.labels, queries.boundaries)
        self._document_ids = row_numbers(queries.boundaries)
