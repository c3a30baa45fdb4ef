"""A scikit-learn estimator that trains the same models as jobs of the service."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankery.errors import InvalidArgument, convert_invalid_input
from rankery.server_package import require_server_package
from rankery.sklearn.estimator import Groups, RankingEstimator, python_number

if TYPE_CHECKING:
    from core.data import RankingDataset
    from core.training import TrainedRanker, TrainingSpec
    from core.types import Float64Array
    from rankery.client.schemas.requests import Contract

_HYPERPARAMETERS = (
    "num_iterations",
    "learning_rate",
    "num_leaves",
    "max_depth",
    "min_data_in_leaf",
    "min_sum_hessian_in_leaf",
    "bagging_fraction",
    "bagging_freq",
    "feature_fraction",
    "lambda_l1",
    "lambda_l2",
)
_EVALUATE_ONLY_AT_THE_END = 100_000  # iterations between evaluations; larger than any training


class RankeryRanker(RankingEstimator):
    """A ranker: trees of LightGBM that minimise a ranking loss.

    The model is byte for byte identical to that of a job with the same data, loss, hyperparameters and seed,
    on any number of threads.

    In `GridSearchCV` and other cross-validation, call `sklearn.set_config(enable_metadata_routing=True)`,
    split by `GroupKFold` and pass the query of each document: `search.fit(X, y, groups=query_ids)`. The
    groups then reach the splitter, `fit` and `score` without `set_fit_request`.

    Args:
        loss: Name of the loss, or a dictionary of name and hyperparameters: `{"name": "ndcg-loss2++", "mu":
            5.0}`.
        num_iterations: Maximum number of trees.
        learning_rate: Shrinkage of each tree.
        num_leaves: Maximum number of leaves per tree.
        max_depth: Maximum depth of a tree; -1 for no limit.
        min_data_in_leaf: Minimum number of documents in a leaf, which LightGBM estimates from hessians: some
            leaves have fewer.
        min_sum_hessian_in_leaf: Minimum sum of hessians in a leaf.
        bagging_fraction: Share of documents sampled for a tree, if bagging_freq > 0.
        bagging_freq: Iterations after which documents are sampled again; 0 for no sampling.
        feature_fraction: Share of features sampled for a tree.
        lambda_l1: L1 penalty on leaf values.
        lambda_l2: L2 penalty on leaf values.
        hyperparameters: Other hyperparameters of a job, by name.
        metric: Metric that `score` returns and that selects the best iteration on `eval_set`.
        contract: Conventions of the metric: a preset such as `trec_eval`, or a dictionary.
        early_stopping_rounds: Iterations without improvement on `eval_set` that end the training.
        seed: Seed of every random choice.
        n_jobs: Threads; all available processors when None or below 1.

    Attributes:
        model_text_: The model in LightGBM's text form, as the service stores it.
        booster_: The model as a `lightgbm.Booster`. LightGBM cannot hold every name;
            `booster_.feature_name()` has its spellings in the order of `feature_names_in_`.
        best_iteration_: Number of trees kept.
        evals_result_: Values by dataset role (`train`, `validation`), metric and iteration, if the training
            has an `eval_set`.
        feature_importances_: (n_features_in_,) shares of the features in the gains of all splits.
        n_features_in_: Features seen in `fit`.
        feature_names_in_: Names of the features, if `X` had names.
    """

    _fitted_attribute = "booster_"

    def __init__(
        self,
        loss: "str | Mapping[str, Any]" = "lambdarank",
        *,
        num_iterations: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        max_depth: int = -1,
        min_data_in_leaf: int = 20,
        min_sum_hessian_in_leaf: float = 1e-3,
        bagging_fraction: float = 1.0,
        bagging_freq: int = 0,
        feature_fraction: float = 1.0,
        lambda_l1: float = 0.0,
        lambda_l2: float = 0.0,
        hyperparameters: "Mapping[str, Any] | None" = None,
        metric: str = "ndcg@10",
        contract: "Contract" = "default",
        early_stopping_rounds: int | None = None,
        seed: int = 42,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.num_iterations = num_iterations
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_data_in_leaf = min_data_in_leaf
        self.min_sum_hessian_in_leaf = min_sum_hessian_in_leaf
        self.bagging_fraction = bagging_fraction
        self.bagging_freq = bagging_freq
        self.feature_fraction = feature_fraction
        self.lambda_l1 = lambda_l1
        self.lambda_l2 = lambda_l2
        self.hyperparameters = hyperparameters
        self.metric = metric
        self.contract = contract
        self.early_stopping_rounds = early_stopping_rounds
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        group: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        eval_group: Any = None,
        eval_groups: Any = None,
    ) -> Self:
        """Train on judged documents.

        Args:
            X: (n_documents, n_features); NaN is a missing value.
            y: (n_documents,) graded relevance, 0 or more.
            group: (n_queries,) number of documents of each query, in order, as in LightGBM.
            groups: (n_documents,) query of each document, in any order, as in scikit-learn's splitters;
                instead of `group`.
            sample_weight: (n_documents,) weights, such as inverse propensities.
            eval_set: Validation data `(X, y)`, which select the best iteration; or a list of one such pair,
                with one array each in `eval_group` and `eval_groups`, as in LightGBM.
            eval_group: (n_queries,) number of documents of each query of `eval_set`.
            eval_groups: (n_documents,) query of each document of `eval_set`, instead of `eval_group`.

        Raises:
            InvalidArgument: Groups are missing or wrong, or another argument is wrong.
            PackageMissing: rankery-server is not installed.
        """
        require_server_package()
        from core.data.labels import LabelRange
        from core.losses import check_combination
        from core.training import train
        from core.training.labels import check_labels
        from core.training.measure import check_early_stopping

        with convert_invalid_input():
            data = self._dataset(X, y, Groups(group, groups), sample_weight, reset=True)
            spec = self._spec(has_validation=eval_set is not None)
            check_combination(spec.loss)
            check_labels(LabelRange.of(data.labels), spec.loss, spec.all_metrics, spec.conventions)
            validation = self._validation(eval_set, eval_group, eval_groups)
            check_early_stopping(spec, validation)
            trained = train(spec, data, validation, threads=self._threads())
        self._set_attributes(trained)
        _warn_of_tree_findings(spec, trained)
        return self

    @property
    def feature_importances_(self) -> "Float64Array":
        """Return each feature's share of the gains of all splits, (n_features_in_,); 0 without splits."""
        check_is_fitted(self, self._fitted_attribute)
        gains = np.asarray(self.booster_.feature_importance("gain"), np.float64)
        shares: Float64Array = gains / (gains.sum() or 1.0)
        return shares

    def _spec(self, *, has_validation: bool) -> "TrainingSpec":
        from core.metrics import metric_name
        from core.training import training_spec

        own = {name: python_number(getattr(self, name)) for name in _HYPERPARAMETERS}
        others = dict(self.hyperparameters or {})
        if twice := sorted(own.keys() & others):
            raise InvalidArgument(f"hyperparameters: {twice[0]} is a separate argument; give it there")
        rounds = self.early_stopping_rounds
        if rounds is not None and not has_validation:
            raise InvalidArgument("early_stopping_rounds: needs an eval_set")
        metric = metric_name(self.metric)
        return training_spec(
            {
                "loss": {"name": self.loss} if isinstance(self.loss, str) else self.loss,
                "hyperparameters": {**own, **others},
                "metrics": [metric],
                "early_stopping": None
                if rounds is None
                else {"metric": metric, "rounds": python_number(rounds)},
                "seed": python_number(self.seed),
                "contract": self.contract,
                "metric_interval": 1 if has_validation else _EVALUATE_ONLY_AT_THE_END,
            }
        )

    def _validation(self, eval_set: Any, eval_group: Any, eval_groups: Any) -> "RankingDataset | None":
        if eval_set is None:
            return None
        if isinstance(eval_set, list):  # LightGBM's form: a list of pairs and a list of groups
            if len(eval_set) != 1:
                raise InvalidArgument(
                    "eval_set: must be one pair (X, y); a training is validated on one dataset"
                )
            (eval_set,), eval_group, eval_groups = eval_set, _only(eval_group), _only(eval_groups)
        if not isinstance(eval_set, tuple) or len(eval_set) != 2:
            raise InvalidArgument("eval_set: must be one pair (X, y)")
        return self._dataset(*eval_set, Groups(eval_group, eval_groups, "eval_"), None, reset=False)

    def _scores(self, features: Any) -> "Float64Array":
        scores: Any = self.booster_.predict(features, raw_score=True, num_threads=self._threads())
        found: Float64Array = scores
        return found

    def _set_attributes(self, trained: "TrainedRanker") -> None:
        import lightgbm

        self.model_text_ = trained.model_text
        self.booster_ = lightgbm.Booster(model_str=trained.model_text)
        self.best_iteration_ = trained.best_iteration
        self.evals_result_: dict[str, dict[str, list[float | None]]] = {}
        for report in trained.history:
            for data, values in report.values.items():
                for name, value in values.items():
                    self.evals_result_.setdefault(data, {}).setdefault(name, []).append(value)


def _warn_of_tree_findings(spec: "TrainingSpec", trained: "TrainedRanker") -> None:
    """Warn of trees that break monotone constraints or have leaves of too few documents."""
    from core.scorers import read_model
    from core.training.tree_findings import tree_findings

    model = read_model(trained.content)
    for finding in tree_findings(spec.hyperparameters, model, trained.feature_names):
        if finding.severity != "info":
            warnings.warn(f"{finding.title}. {finding.advice}", UserWarning, stacklevel=3)


def _only(groups: Any) -> Any:
    """Return the only element of a list of groups, or the groups if they are not in such a list."""
    is_nested = isinstance(groups, list) and len(groups) == 1 and np.ndim(groups[0]) == 1
    return groups[0] if is_nested else groups
