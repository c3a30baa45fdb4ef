"""The base class of jobs that train a model: trainings and reproductions."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import InvalidInput
from core.jobs.base import Lane, SubmittedJob, UnfinishedJob
from core.jobs.folders import checkpoint_folder
from core.jobs.measures import Measures
from core.jobs.stored import Json, Stored

if TYPE_CHECKING:
    from core.data.feature_choice import FeatureChoice
    from core.data.folds import Folds
    from core.data.hold_out import HoldOut
    from core.training import TrainingSpec
    from core.training.automatic import AutomaticChoice
    from core.training.distribution import Distribution


@dataclass(frozen=True)
class HeldOutDataset:
    """Another dataset to validate on: `{"dataset_id": "ds_…"}`."""

    dataset_id: str


@dataclass(frozen=True, kw_only=True)
class BoostingJob(SubmittedJob):
    """A job that trains a model.

    Attributes:
        dataset_id: The training data.
        validation: The data that selects the best iteration, or None; folds are held out one by one.
        test: Part of the dataset that is taken out before `validation`, or None.
        label_map: The requested replacements of labels.
        features: The features of the model, or None for all of the training data.
        init_model: Model to continue the training of, `web:3`, or None.
        labels_from: Model whose scores replace the training labels, `model:web:3`, or None.
        training: Loss, hyperparameters and all else that determines the model.
        automatic: Hyperparameters chosen by the size of the dataset, or None.
        bootstrap: Whether to train on a bootstrap sample of the training queries.
        distribution: The ranks of a distributed training, or None for one process.
    """

    lane: ClassVar[Lane] = Lane.TRAINING
    # Selecting the best of many models by the test data would make its values optimistic.
    main_data: ClassVar[tuple[str, ...]] = ("validation", "test", "train")

    validation: "HeldOutDataset | HoldOut | Folds | None" = None
    test: "HoldOut | None" = None
    label_map: Mapping[str, float]
    features: "FeatureChoice | None" = None
    init_model: str | None = None
    labels_from: str | None = None
    training: "TrainingSpec"
    automatic: "AutomaticChoice | None" = None
    bootstrap: bool = False
    distribution: "Distribution | None" = None

    @property
    def measures(self) -> Measures:
        """Return the metrics of the model and their options."""
        spec = self.training
        return Measures(spec.followed_metrics, spec.conventions, self.label_map, spec.seed)

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that determine the model."""
        held_out = self.validation
        other = {"validation": held_out.dataset_id} if isinstance(held_out, HeldOutDataset) else {}
        return {"train": self.dataset_id, **other}

    @property
    def folds(self) -> "Folds | None":
        """Return the folds of a cross-validation, or None."""
        from core.data.folds import FoldColumn, RandomFolds

        return self.validation if isinstance(self.validation, RandomFolds | FoldColumn) else None

    @property
    def parts_are_random(self) -> bool:
        """Return whether queries are drawn at random for training, validation or test."""
        parts = (part for part in (self.validation, self.test) if not isinstance(part, HeldOutDataset))
        return self.bootstrap or any(part.is_random for part in parts if part is not None)

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the checkpoints."""
        return [checkpoint_folder(job.id)]

    @classmethod
    def deciding_metrics(cls, stored: Stored) -> list[str]:
        """Return the metric of early stopping, then the other requested ones."""
        watched = (stored.get("early_stopping") or {}).get("metric")
        return [*([watched] if watched else []), *super().deciding_metrics(stored)]

    @classmethod
    def _shared(cls, stored: Stored) -> dict[str, Any]:
        from core.training import training_spec
        from core.training.automatic import AutomaticChoice

        spec, validation = training_spec(stored, stored=True), _validation(stored)
        return SubmittedJob._shared(stored) | {
            "validation": validation,
            "test": _hold_out(stored, "test"),
            "label_map": dict(stored.get("label_map") or {}),
            "features": _features(stored),
            "init_model": stored.get("init_model"),
            "labels_from": stored.get("labels_from"),
            "training": spec,
            "automatic": AutomaticChoice.from_json(stored.get("automatic")),
            "bootstrap": bool(stored.get("bootstrap")),
            "distribution": _distribution(stored, spec, validation),
        }

    def _shared_json(self) -> Json:
        from core.losses import loss_values
        from core.training.spec import scorer_json

        spec = self.training
        # Omit defaults, so that the JSON equals that of earlier releases.
        later = {
            "automatic": self.automatic and self.automatic.to_json(),
            "bootstrap": self.bootstrap,
            "distribution": self.distribution and self.distribution.to_json(),
            "labels_from": self.labels_from,
        }
        return super()._shared_json() | {
            "validation": self.validation and asdict(self.validation),
            "test": self.test and asdict(self.test),
            "label_map": dict(self.label_map),
            "features": self.features and self.features.to_json(),
            "init_model": self.init_model,
            "loss": loss_values(spec.loss) if spec.learns else None,
            "metrics": list(spec.metrics),
            "early_stopping": spec.early_stopping and asdict(spec.early_stopping),
            "contract": spec.conventions.to_json(),
            "diagnostics": spec.diagnostics and asdict(spec.diagnostics),
            "seed": spec.seed,
            "metric_interval": spec.metric_interval,
            "categorical_feature": list(spec.categorical_feature),
            **scorer_json(spec),
            **{name: value for name, value in later.items() if value},
        }


def _features(stored: Stored) -> "FeatureChoice | None":
    from core.data.feature_choice import FeatureChoice

    try:
        return FeatureChoice.from_json(stored.get("features"))
    except InvalidInput as invalid:
        raise invalid.below("/features") from invalid


def _validation(stored: Stored) -> "HeldOutDataset | HoldOut | Folds | None":
    from core.data.folds import folds_of

    requested = stored.get("validation") or {}
    if "dataset_id" in requested:
        return HeldOutDataset(requested["dataset_id"])
    try:
        folds = folds_of(requested)
    except InvalidInput as invalid:
        raise invalid.below("/validation") from invalid
    return folds or _hold_out(stored, "validation")


def _distribution(
    stored: Stored, spec: "TrainingSpec", validation: "HeldOutDataset | HoldOut | Folds | None"
) -> "Distribution | None":
    from core.data.folds import FoldColumn, RandomFolds
    from core.training.distribution import Distribution, check_distribution

    try:
        distribution = Distribution.from_json(stored.get("distribution"))
    except InvalidInput as invalid:
        raise invalid.below("/distribution") from invalid
    if distribution is not None:
        check_distribution(spec, has_folds=isinstance(validation, RandomFolds | FoldColumn))
    return distribution


def _hold_out(stored: Stored, role: str) -> "HoldOut | None":
    from core.data.hold_out import hold_out

    requested = stored.get(role)
    if requested is None:
        return None
    try:
        return hold_out(requested)
    except InvalidInput as invalid:
        raise invalid.below(f"/{role}") from invalid
