"""Arguments that LightGBM passes to objectives and metrics: scores and labels, grouped by query."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankery.errors import InvalidArgument
from rankery.query_groups import query_sizes

if TYPE_CHECKING:
    from core.types import Float64Array, FloatArray, Int64Array


@dataclass(frozen=True, eq=False)
class JudgedQueries:
    """Labels, groups and weights as LightGBM holds them.

    Attributes:
        labels: (n_documents,).
        sizes: (n_queries,) number of documents of each query.
        weights: (n_documents,), or None where all are 1.
    """

    labels: "FloatArray"
    sizes: "Int64Array"
    weights: "FloatArray | None"

    @property
    def boundaries(self) -> "Int64Array":
        """(n_queries + 1,) offsets of the queries."""
        import numpy as np

        return np.concatenate(([0], np.cumsum(self.sizes)))

    def exact_weights(self) -> "Float64Array | None":
        """Return the weights in float64, None where all are 1."""
        import numpy as np

        return None if self.weights is None else np.asarray(self.weights, np.float64)

    def equals(self, other: "JudgedQueries") -> bool:
        """Return whether all values are the same."""
        import numpy as np

        if (self.weights is None) != (other.weights is None):
            return False
        weights = self.weights is None or np.array_equal(self.weights, other.weights)  # type: ignore[arg-type]
        return (
            bool(weights)
            and np.array_equal(self.sizes, other.sizes)
            and np.array_equal(self.labels, other.labels)
        )

    def copied(self) -> "JudgedQueries":
        """Return a copy in arrays that LightGBM's Dataset does not change."""
        weights = None if self.weights is None else self.weights.copy()
        return JudgedQueries(self.labels.copy(), self.sizes.copy(), weights)


@dataclass(frozen=True, eq=False)
class LightGBMCall:
    """One call of an objective or a metric.

    Attributes:
        scores: (n_documents,) the current scores, in the array that LightGBM keeps for the booster.
        queries: Labels, groups and weights of the documents.
        dataset: The `lightgbm.Dataset`, None in a call by a scikit-learn estimator.
    """

    scores: "Float64Array"
    queries: JudgedQueries
    dataset: Any = None

    @classmethod
    def of(cls, first: Any, second: Any, weight: Any, group: Any) -> "LightGBMCall":
        """Parse the arguments `(scores, Dataset)`, or `(labels, scores, weight, group)` of scikit-learn.

        Raises:
            InvalidArgument: Groups are missing or do not match the labels, or the data are of XGBoost.
        """
        if hasattr(second, "get_group"):
            if type(second).__module__.partition(".")[0] == "xgboost":
                raise InvalidArgument(
                    "losses and metrics of rankery.lightgbm are for lightgbm.train, lightgbm.cv and"
                    " LGBMRanker, not for XGBoost: train with one of these, RankeryRanker or a job"
                )
            if second.get_position() is not None:
                raise InvalidArgument(
                    "position of the Dataset applies only to LightGBM's own lambdarank; leave it out"
                )
            queries = _queries(second.get_label(), second.get_weight(), second.get_group())
            return cls(_scores(first, queries), queries, second)
        queries = _queries(first, weight, group)
        return cls(_scores(second, queries), queries)

    def check_whole_queries(self) -> None:
        """Refuse partial queries: by default `lightgbm.cv` splits queries between folds.

        Raises:
            InvalidArgument: A query has fewer documents than in the Dataset from which the fold was taken.
        """
        import numpy as np

        rows = getattr(self.dataset, "used_indices", None)
        if rows is None or self.dataset.reference is None:
            return
        sizes = np.asarray(self.dataset.reference.get_group(), np.int64)
        queries, counts = np.unique(np.repeat(np.arange(len(sizes)), sizes)[rows], return_counts=True)
        if not np.array_equal(counts, sizes[queries]):
            raise InvalidArgument(
                "queries are split between folds; give lightgbm.cv folds of whole queries:"
                " folds=sklearn.model_selection.GroupKFold(n_splits=5)"
            )

    def check_sampling(self) -> None:
        """Refuse samples of queries, with which LightGBM ignores trees or samples of Python's objectives.

        Raises:
            InvalidArgument: `bagging_by_query` is set.
        """
        parameters = getattr(self.dataset, "params", None) or {}
        if str(parameters.get("bagging_by_query", False)).lower() in ("true", "1", "+"):
            raise InvalidArgument(
                "bagging_by_query: LightGBM trains wrong models with it for objectives written in Python;"
                " leave it out, or train RankeryRanker(hyperparameters={'query_fraction': …})"
            )

    def initial_scores(self) -> "Float64Array | None":
        """Return the scores before the first tree, None without a Dataset."""
        import numpy as np

        if self.dataset is None:
            return None
        given = self.dataset.get_init_score()
        return np.zeros(len(self.scores)) if given is None else np.asarray(given, np.float64)


def _queries(labels: Any, weights: Any, group: Any) -> JudgedQueries:
    import numpy as np

    labels = np.asarray(labels)
    return JudgedQueries(
        labels, query_sizes(group, len(labels)), None if weights is None else np.asarray(weights)
    )


def _scores(given: Any, queries: JudgedQueries) -> "Float64Array":
    import numpy as np

    scores: Float64Array = np.asarray(given)  # no copy of an array: its identity identifies the booster
    if scores.shape != queries.labels.shape:
        raise InvalidArgument(
            f"scores have shape {scores.shape}, but labels have shape {queries.labels.shape}; give one score"
            " per document"
        )
    return scores
