"""A loss as LightGBM's `objective`."""

from typing import TYPE_CHECKING, Any

from rankery.errors import InvalidArgument, convert_invalid_input
from rankery.lightgbm.boosters import StateByBooster
from rankery.lightgbm.judged_queries import JudgedQueries, LightGBMCall
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    from core.losses import Loss
    from core.types import Float32Array

Derivatives = tuple["Float32Array", "Float32Array"]


def objective(name: str, *, seed: int = 42, **hyperparameters: Any) -> "RankingObjective":
    """Return a loss for `lightgbm.train`, `lightgbm.cv` and `LGBMRanker`, to be given as `objective`.

    Args:
        name: Name of the loss, as listed by `GET /v1/losses`.
        seed: Seed of the random choices of the loss, if any, as the seed of a job.
        **hyperparameters: Hyperparameters of the loss.

    Raises:
        InvalidArgument: The loss or a hyperparameter is unknown, out of bounds or without effect.
        PackageMissing: rankery-server is not installed.

    Example:
        >>> objective("ndcg-loss2++", mu=10.0)
        objective('ndcg-loss2++', mu=10.0)
    """
    require_server_package()
    from core.losses import check_combination, make_loss, seeded

    with convert_invalid_input():
        loss = seeded(make_loss(name, **hyperparameters), seed)
        check_combination(loss)
    return RankingObjective(loss)


class RankingObjective:
    """A loss that LightGBM calls once an iteration for gradients and hessians.

    One object serves any number of trainings, one after the other or alternating: the iterations of each
    booster are counted separately. Weights of documents count as in a job: see the losses.

    Args:
        loss: The loss.
    """

    def __init__(self, loss: "Loss") -> None:
        self.loss = loss
        self._trainings: StateByBooster[_Training] = StateByBooster()

    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> Derivatives:
        """Return gradient and hessian for the current scores, (n_documents,) each.

        Args:
            first: The scores from `lightgbm.train`, or the labels from `LGBMRanker`.
            second: The `lightgbm.Dataset` from `lightgbm.train`, or the scores from `LGBMRanker`.
            weight: (n_documents,) weights, passed by `LGBMRanker` alone.
            group: (n_queries,) number of documents of each query, passed by `LGBMRanker` alone.

        Raises:
            InvalidArgument: Groups are missing or wrong, or the loss cannot use a label.
        """
        call = LightGBMCall.of(first, second, weight, group)
        training = self._trainings.of(call.scores, lambda: _Training(self.loss, call))
        return training.derivatives(call)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RankingObjective) and self.loss == other.loss

    def __hash__(self) -> int:
        return hash((type(self), self.loss.name))

    def __repr__(self) -> str:
        from core.losses import loss_values, make_loss

        values = loss_values(self.loss)
        defaults = loss_values(make_loss(values.pop("name"))) | {"seed": 42}
        named = [f"{name}={value!r}" for name, value in values.items() if value != defaults[name]]
        return f"objective({', '.join([repr(self.loss.name), *named])})"


class _Training:
    """The loss bound to the data of one booster."""

    def __init__(self, loss: "Loss", call: LightGBMCall) -> None:
        self._loss = loss
        self._iteration = 0
        call.check_whole_queries()
        call.check_sampling()
        self._check_first(call)
        self._bind(call.queries)

    def derivatives(self, call: LightGBMCall) -> Derivatives:
        if not self._queries.equals(call.queries):
            self._bind(call.queries)
        with convert_invalid_input():
            gradient, hessian = self._objective(call.scores, self._iteration)
        self._iteration += 1
        return gradient.copy(), hessian.copy()  # the loss reuses its arrays in the next iteration

    def _bind(self, queries: JudgedQueries) -> None:
        from core.data.labels import LabelRange
        from core.machine import available_cpus
        from core.ranges import use_threads
        from core.training.labels import check_labels

        with convert_invalid_input():
            check_labels(LabelRange.of(queries.labels), self._loss, ())
        use_threads(available_cpus())
        self._queries = queries.copied()
        self._objective = self._loss.prepare(
            queries.labels, queries.boundaries, document_weights=queries.exact_weights()
        )

    def _check_first(self, call: LightGBMCall) -> None:
        """Refuse a random loss whose first call is not the first iteration of a training."""
        import numpy as np

        initial = call.initial_scores() if self._loss.is_random else None
        if initial is not None and not np.array_equal(call.scores, initial):
            raise InvalidArgument(
                f"{self._loss.name} draws random numbers by iteration: call it from the first tree of a"
                " booster on, with LightGBM's own array of scores, not a copy"
            )
