"""Base class of the scikit-learn estimators: validation of arguments, `score` and tags."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rankery.array_inputs import check_same_order, with_nan
from rankery.client.frames.cells import row_text
from rankery.client.frames.incoming import collected, is_frame
from rankery.client.frames.judged import declared_categories, declared_times
from rankery.errors import InvalidArgument, WrongType, convert_invalid_input
from rankery.query_groups import QueryGroups, check_one_per_document, group_by_ids, group_by_sizes

if TYPE_CHECKING:
    from core.data import RankingDataset
    from core.types import Float64Array
    from rankery.client.schemas.requests import Contract


_ENCODE = (
    "encode them, for instance with sklearn.preprocessing.OrdinalEncoder, or train with client.train, which"
    " accepts categories"
)


class RankingEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator of ranking scores.

    Attributes:
        metric: Metric that `score` returns.
        contract: Conventions of the metric: a preset such as `trec_eval`, or a dictionary.
        n_jobs: Threads; all available processors when None or below 1.
    """

    metric: str
    contract: "Contract"
    n_jobs: int | None

    _fitted_attribute: str  # attribute of a complete `fit`; one that fails in between leaves others behind

    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - scikit-learn reads a dictionary
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    def predict(self, X: Any) -> "Float64Array":  # noqa: N803
        """Return scores of documents, (n_documents,): within a query, higher is better."""
        import numpy as np

        check_is_fitted(self, self._fitted_attribute)
        with _numeric_features(X) as features:
            matrix = validate_data(
                self, features, reset=False, dtype=np.float32, ensure_all_finite="allow-nan"
            )
        return self._scores(matrix)

    def score(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        group: Any = None,
        groups: Any = None,
        sample_weight: None = None,
    ) -> float:
        """Return the mean of the metric over queries, negated for a cost such as `arp`.

        Args:
            X: As for `fit`.
            y: As for `fit`.
            group: As for `fit`.
            groups: As for `fit`.
            sample_weight: None; metrics weigh all queries equally.

        Raises:
            InvalidArgument: As for `fit`.
        """
        if sample_weight is not None:  # `Pipeline.score` passes this argument
            raise InvalidArgument("sample_weight: metrics weigh all queries equally; leave it out")
        from core.evaluation import measure
        from core.metrics import conventions, parse_metric

        check_is_fitted(self, self._fitted_attribute)
        with convert_invalid_input():
            data = self._dataset(X, y, Groups(group, groups), None, reset=False)
            metric = parse_metric(self.metric, self.contract)
            scores = self._scores(data.matrix)
            values = measure(scores, data, [self.metric], conventions(self.contract))[self.metric]
        mean = metric.mean(values)
        if mean is None:
            return math.nan
        return mean if metric.higher_is_better else -mean

    def _scores(self, features: Any) -> "Float64Array":
        """Return the scores of the fitted model for features, (n_documents,)."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def _dataset(
        self,
        X: Any,  # noqa: N803
        y: Any,
        given: "Groups",
        weights: Any,
        *,
        reset: bool,
    ) -> "RankingDataset":
        import numpy as np

        from core.data import RankingDataset

        if reset:  # the names and number of features are replaced below
            self.__dict__.pop(self._fitted_attribute, None)
        prefix = "eval_set, " if given.prefix else ""
        check_same_order(
            {
                f"{prefix}X": X,
                f"{prefix}y": y,
                f"{given.prefix}groups": given.ids,
                "sample_weight": weights,
            }
        )
        with _numeric_features(X) as features:
            matrix, labels = validate_data(
                self,
                features,
                with_nan(y),
                reset=reset,
                dtype=np.float32,
                ensure_all_finite="allow-nan",
                y_numeric=True,
            )
        found = given.of(len(labels))
        names = getattr(self, "feature_names_in_", None)
        return RankingDataset.from_arrays(
            found.gather(matrix),
            found.gather(labels),
            found.boundaries,
            query_ids=found.query_ids,
            feature_names=None if names is None else list(names),
            document_weights=None if weights is None else found.gather(_weights(weights, len(labels))),
        )

    def _threads(self) -> int:
        from core.machine import available_cpus

        return available_cpus() if self.n_jobs is None or self.n_jobs < 1 else self.n_jobs


@dataclass(frozen=True)
class Groups:
    """Arguments that group documents by query: sizes or ids.

    Attributes:
        sizes: Number of documents of each query, or None.
        ids: Query of each document, or None.
        prefix: Prefix of the names of the two arguments.
    """

    sizes: Any
    ids: Any
    prefix: str = ""

    def of(self, n_documents: int) -> QueryGroups:
        """Return the documents grouped by query.

        Raises:
            InvalidArgument: Neither or both of sizes and ids are given, or they do not match the documents.
        """
        group, groups = f"{self.prefix}group", f"{self.prefix}groups"
        if (self.sizes is None) == (self.ids is None):
            raise InvalidArgument(
                f"give {group}, the number of documents of each query, or {groups}, the query of each"
                " document; for cross-validation, first call sklearn.set_config(enable_metadata_routing=True)"
            )
        if self.ids is not None:
            return group_by_ids(self.ids, n_documents, groups)
        return group_by_sizes(self.sizes, n_documents)


@contextmanager
def _numeric_features(given: Any) -> Iterator[Any]:
    """Provide features that scikit-learn reads as numbers; masked values are NaN."""
    if type(given) is dict:  # a sparse array of scipy may be a subclass
        raise WrongType(
            "X: must be an array or a data frame, not a dictionary; write pandas.DataFrame(X) for lists of"
            " values, or pandas.DataFrame([X]) for the values of one document"
        )
    features = collected(with_nan(given))
    if not is_frame(features):
        yield features
        return
    for kind, names, solution in (
        ("categories", declared_categories(features), _ENCODE),
        ("times", declared_times(features), "convert them, for instance to days"),
    ):
        if names:
            columns = f"{', '.join(map(repr, sorted(names)))} {'has' if len(names) == 1 else 'have'}"
            raise InvalidArgument(f"X: {columns} {kind}, but numbers are expected; {solution}")
    try:
        yield features
    except ValueError as error:
        _raise_for_text(features, error)
        raise


def _raise_for_text(frame: Any, error: ValueError) -> None:
    """Raise an error that names the first text that is not a number, if a column has one."""
    import numpy as np

    from core.data.content import is_number

    for name in getattr(frame, "column_names", frame.columns):
        for (row, *_), value in np.ndenumerate(np.asarray(frame[name], object)):  # names may be repeated
            if isinstance(value, str) and not is_number(value):
                raise InvalidArgument(
                    f"X: {row_text(frame, row)}, column {name!r}: expected a number, but found {value!r};"
                    f" {_ENCODE}"
                ) from error


def _weights(given: Any, n_documents: int) -> "Float64Array":
    import numpy as np

    weights = np.asarray(with_nan(given), np.float64)
    check_one_per_document("sample_weight", weights, n_documents)
    if invalid := np.flatnonzero(~((weights >= 0) & (weights < math.inf))).tolist():
        raise InvalidArgument(
            f"sample_weight: must be finite and at least 0, but document {invalid[0]}, counted from 0, has"
            f" {weights[invalid[0]]:g}"
        )
    if not weights.any():
        raise InvalidArgument("sample_weight: is zero for every document, so there is nothing to learn")
    return weights


def python_number(value: Any) -> Any:
    """Convert a numpy scalar, such as a hyperparameter of a search, to a Python number."""
    return value.item() if hasattr(value, "item") else value
