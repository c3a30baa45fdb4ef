"""Build sums of stored models, or of a model and the trees trained on its residuals."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.data.categories import Categories
from core.data.feature_alignment import AbsentFeatures
from core.errors import InvalidInput, ModelError
from core.jobs.base_training import BaseTrainingJob
from core.names import first_names
from core.scorers import Member, Sum, TreeModel, WeightedSum, write_sum
from core.store import Model, Store
from core.store.artifacts.keys import model_key
from core.training import IterationReport, TrainedModel, TrainingSpec
from core.training.findings import Growth
from core.training.measure import Measure
from core.training.weights import FittedWeights, best_weights, fit_weights
from worker.job.datasets import KeyedDataset
from worker.job.run import JobRun


@dataclass(frozen=True)
class BaseModel:
    """A model that a training continues.

    Attributes:
        categories: Values of categorical features by name.
    """

    member: Member
    categories: Mapping[str, Categories]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the model's features, as in its training data."""
        return self.member.feature_names

    @property
    def is_forest(self) -> bool:
        """Return whether trees can be appended to the model; other models become members of a sum."""
        return isinstance(self.member.model, TreeModel)


def load_base(store: Store, job: BaseTrainingJob) -> BaseModel | None:
    """Load the model that a job continues, or None.

    Raises:
        NotFound: The model does not exist.
        ArtifactDamaged: The checksum of the model's file does not match.
    """
    if job.init_model is None:
        return None
    with store.read() as tx:
        row = tx.models.resolve(job.init_model)
    member = _member(store, row, 1.0)
    try:
        return BaseModel(member, member.categories)
    except ModelError as error:
        raise InvalidInput.at("/init_model", str(error)) from error


@dataclass(frozen=True)
class TrainedSum:
    """A sum that a job made.

    Attributes:
        content: File of the sum, see `core.scorers.sum`.
        history: Reports of the training; a single one for a sum of stored models.
        best_iteration: Best iteration of the training, 1 for a sum of stored models.
        growth: Growth of the trees if it ended suspiciously early, else None.
        propensities: Propensity of each rank if they were learnt with the trees, else None.
    """

    content: bytes
    feature_names: tuple[str, ...]
    history: Sequence[IterationReport] = field(repr=False)
    best_iteration: int = 1
    growth: Growth | None = None
    fitted: FittedWeights | None = None
    propensities: tuple[float, ...] | None = None

    @property
    def kept_iterations(self) -> int:
        """Return the number of iterations that the sum keeps."""
        return self.best_iteration


def load_members(store: Store, job: BaseTrainingJob) -> tuple[Member, ...]:
    """Load the member models of a sum; return an empty tuple for other trainings.

    Raises:
        NotFound: A model does not exist.
        ArtifactDamaged: The checksum of a file does not match.
        InvalidInput: A model is a sum itself, or the models have different categories of a feature.
        ModelError: A file cannot be used.
    """
    scorer = job.training.scorer
    if not isinstance(scorer, WeightedSum):
        return ()
    weights = scorer.weights or (1.0,) * len(scorer.models)
    with store.read() as tx:
        rows = [tx.models.resolve(reference) for reference in scorer.models]
    members = tuple(_member(store, row, weight) for row, weight in zip(rows, weights, strict=True))
    _sum_of(members)
    return members


def _member(store: Store, row: Model, weight: float) -> Member:
    content = store.verified.read_bytes(model_key(row.id), row.sha256)
    return Member(row.reference, content, tuple(row.feature_names), weight, row.precision)


def align_with_members(members: Sequence[Member], training: KeyedDataset) -> KeyedDataset:
    """Return a dataset with the features and categories of all members.

    Raises:
        InvalidInput: The dataset lacks a feature that a member uses.
    """
    if not members:
        return training
    model_sum = _sum_of(members)
    names = model_sum.feature_names
    absent = AbsentFeatures.of(training.dataset, [names[column] for column in model_sum.used_features])
    if absent.names:
        raise InvalidInput.at("/dataset_id", f"lacks features of the models: {first_names(absent.names)}")
    return training.aligned(names, {names[column]: each for column, each in model_sum.categories.items()})


def fit_sum(
    run: JobRun,
    spec: TrainingSpec,
    members: Sequence[Member],
    training: KeyedDataset,
    validation: KeyedDataset | None,
) -> TrainedSum:
    """Build the sum of stored models; fit the weights on the validation data unless they are specified.

    Raises:
        InvalidInput: There are no validation data to fit the weights on.
    """
    scorer, started_at, fitted = spec.scorer, time.perf_counter(), None
    if isinstance(scorer, WeightedSum) and scorer.weights is None:
        if validation is None:
            raise InvalidInput.at("/validation", "is required to fit the weights; or set /scorer/weights")
        run.reporter.phase("fitting weights")
        alone = [_sum_of([replace(member, weight=1.0)]) for member in members]
        whole = _sum_of(members)
        scores = [
            Sum(each.members, whole.feature_names).score(validation.dataset.features, run.threads)
            for each in alone
        ]
        arguments = scores, validation.dataset, spec.selection_metric, spec.conventions
        if scorer.shrinkage == "none":
            weights = best_weights(*arguments)
        else:
            fitted = fit_weights(*arguments)
            weights = fitted.weights
        members = [replace(member, weight=weight) for member, weight in zip(members, weights, strict=True)]
    model_sum = _sum_of(members)
    run.reporter.phase("scoring")
    parts = {"train": training, "validation": validation}
    values = {
        name: Measure(spec, part.dataset)(model_sum.score(part.dataset.features, run.threads))
        for name, part in parts.items()
        if part is not None
    }
    milliseconds = {"metrics": round(1e3 * (time.perf_counter() - started_at), 3)}
    report = IterationReport(1, 1, values, 1, milliseconds)
    return TrainedSum(write_sum(model_sum), model_sum.feature_names, [report], fitted=fitted)


def with_base(base: Member, trained: TrainedModel) -> TrainedSum:
    """Return the sum of a model and the trees that were trained on its residuals."""
    trees = Member("trees on its residuals", trained.content, trained.feature_names, 1.0)
    model_sum = _sum_of([replace(base, weight=1.0), trees])
    return TrainedSum(
        write_sum(model_sum),
        trained.feature_names,
        trained.history,
        trained.best_iteration,
        trained.growth,
        propensities=trained.propensities,
    )


def _sum_of(members: Sequence[Member]) -> Sum:
    try:
        return Sum.of(members)
    except ModelError as error:
        raise InvalidInput.at("/scorer/models", str(error)) from error
