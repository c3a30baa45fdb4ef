"""A scikit-learn estimator that finds the best model by automatic training."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from sklearn.utils import check_random_state

from rankery.errors import InvalidArgument, convert_invalid_input
from rankery.server_package import require_server_package
from rankery.sklearn.estimator import Groups, RankingEstimator, python_number

if TYPE_CHECKING:
    from core.autotrain import AutoSpec, AutoTrained
    from core.autotrain.held_out import QueryQuality
    from core.scorers import ScoringModel
    from core.types import Float64Array
    from rankery.client.schemas.requests import Contract


class RankeryAutoRanker(RankingEstimator):
    """A ranker that selects the best model within a time budget by automatic training.

    `fit` cross-validates a portfolio of trees, linear scorers and networks with several losses. It selects
    one candidate or a weighted sum by held-out scores, and trains the selected candidates on all queries.
    `fit` needs no validation data. Linear scorers and networks are tried if `rankery-server[neural]` is
    installed.

    The same data and arguments give the same model, provided that no candidate runs out of time. A candidate
    that ran out of time has the status `out-of-time` in `leaderboard_`.

    Args:
        metric: Metric that selects candidates and that `score` returns.
        contract: Conventions of the metric: a preset such as `trec_eval`, or a dictionary.
        budget_seconds: Wall time that `fit` plans for, in seconds.
        prefer: `best` takes the weighted sum of candidates, unless one candidate is clearly better on
            held-out queries. `simple` takes one candidate, unless the sum is.
        candidates: Names of the candidates to try, as `leaderboard_` has them; all when None.
        random_state: Seed of every random choice: a number, a `numpy.random.RandomState`, or None for a
            different seed in each `fit`.
        n_jobs: Threads; all available processors when None or below 1.

    Attributes:
        leaderboard_: One dictionary for each candidate, the best first. `status` is `complete`, `stopped`,
            `out-of-time` or `not-tried`, and `reason` is why the candidate `name` was not tried. `value` is
            its mean of the metric on held-out queries, with its 95% `interval`. `tied_with_best` is whether
            the best candidate is not significantly better. `folds`, `iterations` and `seconds` describe its
            trainings, and `weight` is its weight in the model, 0 if not used.
            `pandas.DataFrame(ranker.leaderboard_)` is a table of the candidates.
        members_: Names of the candidates in the model, with their weights of scaled scores.
        sentence_: The conclusion: the model compared with LightGBM's defaults, the best single feature and a
            random order.
        estimate_: Estimated mean of the metric on new queries, by nested cross-validation: each query is
            evaluated by models that were trained and selected without it.
        interval_: 95% interval of `estimate_`, None if unknown.
        content_: The model's file as the service stores it: LightGBM's text, or safetensors.
        n_features_in_: Features seen in `fit`.
        feature_names_in_: Names of the features, if `X` had names.

    Example:
        ```python
        ranker = RankeryAutoRanker(metric="ndcg@5", budget_seconds=60).fit(X, y, groups=query_ids)
        print(ranker.sentence_)
        scores = ranker.predict(X_new)
        ```
    """

    _fitted_attribute = "content_"

    def __init__(
        self,
        metric: str = "ndcg@10",
        *,
        contract: "Contract" = "default",
        budget_seconds: float = 300.0,
        prefer: Literal["best", "simple"] = "best",
        candidates: "Sequence[str] | None" = None,
        random_state: Any = 42,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.contract = contract
        self.budget_seconds = budget_seconds
        self.prefer = prefer
        self.candidates = candidates
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        group: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Find the best model on judged documents.

        Args:
            X: (n_documents, n_features); NaN is a missing value.
            y: (n_documents,) graded relevance, 0 or more.
            group: (n_queries,) number of documents of each query, in order, as in LightGBM.
            groups: (n_documents,) query of each document, in any order, as in scikit-learn's splitters;
                instead of `group`.
            sample_weight: (n_documents,) weights, such as inverse propensities.

        Raises:
            InvalidArgument: Groups are missing or wrong, there are fewer than two queries, no candidate was
                complete within the limit, or another argument is wrong.
            PackageMissing: rankery-server is not installed.
        """
        require_server_package()
        from core.autotrain import auto_train, portfolio
        from core.autotrain.held_out import QueryQuality
        from core.metrics import conventions

        with convert_invalid_input():
            spec = self._spec()
            data = self._dataset(X, y, Groups(group, groups), sample_weight, reset=True)
            candidates = portfolio(self.candidates)
            result = auto_train(spec, data, threads=self._threads(), candidates=candidates)
        self._set_attributes(result, QueryQuality(data, spec.metric, conventions(self.contract), spec.seed))
        return self

    def _spec(self) -> "AutoSpec":
        from core.autotrain import AutoSpec
        from core.jobs.auto_train import Preference
        from core.metrics import metric_name

        seconds = python_number(self.budget_seconds)
        if not isinstance(seconds, int | float) or not 0.0 < seconds < math.inf:
            raise InvalidArgument(f"budget_seconds: must be a number of seconds above 0, not {seconds!r}")
        if self.prefer not in get_args(Preference):
            raise InvalidArgument(f"prefer: must be {' or '.join(get_args(Preference))}, not {self.prefer!r}")
        return AutoSpec(metric_name(self.metric), seconds, self.contract, self.prefer, self._seed())

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _set_attributes(self, result: "AutoTrained", quality: "QueryQuality") -> None:
        self.__dict__.pop("_model", None)  # the model of the previous fit
        self.content_ = result.content
        self.members_ = {tried.candidate.name: weight for tried, weight in result.selected.members}
        self.sentence_ = result.conclusion.sentence
        self.estimate_, self.interval_ = result.conclusion.value, result.conclusion.interval
        self.leaderboard_ = _leaderboard(result, self.members_, quality)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_model"}  # rebuilt from `content_`

    @cached_property
    def _model(self) -> "ScoringModel":
        from core.scorers import read_model

        return read_model(self.content_)

    def _scores(self, features: Any) -> "Float64Array":
        return self._model.score(features, self._threads())


def _leaderboard(
    result: "AutoTrained", weights: "Mapping[str, float]", quality: "QueryQuality"
) -> list[dict[str, Any]]:
    names = [each.candidate.name for each in result.selected.complete]
    tied = dict(zip(names, result.selected.selection.tied_with_best(), strict=True))
    best_first = sorted(result.tried, key=lambda each: (each.status != "complete", -each.mean))
    rows = [
        {
            "name": each.candidate.name,
            "status": each.status,
            "reason": None,
            "value": quality.in_metric_units(each.mean) if each.folds else None,
            "interval": quality.interval(each.values) if each.folds else None,
            "tied_with_best": tied.get(each.candidate.name),
            "folds": each.folds,
            "iterations": each.iterations,
            "seconds": each.seconds,
            "weight": weights.get(each.candidate.name, 0.0),
        }
        for each in best_first
    ]
    return rows + [
        {
            "name": each.candidate.name,
            "status": "not-tried",
            "reason": each.reason,
            "value": None,
            "interval": None,
            "tied_with_best": None,
            "folds": 0,
            "iterations": 0,
            "seconds": 0.0,
            "weight": 0.0,
        }
        for each in result.not_tried
    ]
