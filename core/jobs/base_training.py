"""The base class of the jobs `train` and `reproduce`, which train one model of any scorer."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from core.jobs.base import Lane, SubmittedJob, UnfinishedJob
from core.jobs.folders import checkpoint_folder
from core.jobs.measuring import Measures
from core.stored import Json, Stored, entry, read_entries

if TYPE_CHECKING:
    from core.data.feature_choice import FeatureChoice
    from core.data.folds import Folds, HoldOut
    from core.training import TrainingSpec
    from core.training.automatic import AutomaticChoice
    from core.training.distribution import Distribution


@dataclass(frozen=True)
class HeldOutDataset:
    """Another dataset to validate on: `{"dataset_id": "ds_…"}`."""

    dataset_id: str


def _validation(stored: Stored) -> "HeldOutDataset | HoldOut | Folds":
    from core.data.folds import folds_of

    if "dataset_id" in stored:
        return HeldOutDataset(stored["dataset_id"])
    return folds_of(stored) or _hold_out(stored)


def _hold_out(stored: Stored) -> "HoldOut":
    from core.data.folds import hold_out

    return hold_out(stored)


def _features(stored: Stored) -> "FeatureChoice":
    from core.data.feature_choice import FeatureChoice

    return read_entries(FeatureChoice, stored)


def _automatic(stored: Stored) -> "AutomaticChoice":
    from core.training.automatic import AutomaticChoice

    return read_entries(AutomaticChoice, stored)


def _distribution(stored: Any) -> "Distribution":
    from core.training.distribution import Distribution

    return read_entries(Distribution, stored, exact=True)


def _training(stored: Stored) -> "TrainingSpec":
    from core.training import training_spec

    return training_spec(stored, stored=True)


def _training_json(spec: "TrainingSpec") -> Json:
    from core.losses import loss_values
    from core.training.options import changed_options
    from core.training.spec import scorer_json

    return {
        "loss": loss_values(spec.loss) if spec.trains_scorer else None,
        "metrics": list(spec.metrics),
        "early_stopping": spec.early_stopping and asdict(spec.early_stopping),
        "contract": spec.conventions.to_json(),
        "diagnostics": spec.diagnostics and asdict(spec.diagnostics),
        "seed": spec.seed,
        "metric_interval": spec.metric_interval,  # stored with its default, too, as by earlier releases
        **changed_options(spec),
        **({"clicks": spec.clicks.changed()} if spec.clicks is not None else {}),
        "categorical_feature": list(spec.categorical_feature),
        **scorer_json(spec),
    }


@dataclass(frozen=True, kw_only=True)
class BaseTrainingJob(SubmittedJob):
    """A job that trains one model by one specification: trees, a linear scorer, a network or a sum.

    Attributes:
        validation: The data that selects the best iteration, or None; folds are held out one by one.
        test: Part of the dataset that is taken out before `validation`, or None.
        label_map: The requested replacements of labels.
        features: The features of the model, or None for all of the training data.
        init_model: Model to continue the training of, `web:3`, or None.
        labels_from: Model whose scores replace the training labels, `model:web:3`, or None.
        training: Loss, hyperparameters and all other options that determine the model.
        automatic: Hyperparameters chosen by the size of the dataset, or None.
        distribution: The ranks of a distributed training, or None for one process.
    """

    lane: ClassVar[Lane] = Lane.TRAINING
    # Selecting the best of many models by the test data would make its values optimistic.
    main_data: ClassVar[tuple[str, ...]] = ("validation", "test", "train")

    validation: "HeldOutDataset | HoldOut | Folds | None" = entry(None, read=_validation)
    test: "HoldOut | None" = entry(None, read=_hold_out)
    label_map: Mapping[str, float] = field(default_factory=dict)
    features: "FeatureChoice | None" = entry(None, read=_features)
    init_model: str | None = None
    labels_from: str | None = entry(None, omit_default=True)
    training: "TrainingSpec" = entry(read=_training, write=_training_json, flat=True)
    automatic: "AutomaticChoice | None" = entry(None, read=_automatic, omit_default=True)
    distribution: "Distribution | None" = entry(None, read=_distribution, omit_default=True)

    def __post_init__(self) -> None:
        if self.distribution is not None:
            from core.training.distribution import check_distribution

            check_distribution(self.training, has_folds=self.folds is not None)

    @property
    def measures(self) -> Measures:
        """Return the metrics of the model and their options."""
        spec = self.training
        return Measures(spec.all_metrics, spec.conventions, self.label_map, spec.seed)

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that determine the model."""
        held_out = self.validation
        other = {"validation": held_out.dataset_id} if isinstance(held_out, HeldOutDataset) else {}
        return {"train": self.dataset_id, **other}

    @property
    def click_log_ids(self) -> Mapping[str, str]:
        """Return the click log that the job trains on, if any."""
        clicks = self.training.clicks
        return {} if clicks is None or clicks.log is None else {"log": clicks.log}

    @property
    def teacher_name(self) -> str | None:
        """Return the name of the model whose scores replace the training labels, or None."""
        return None if self.labels_from is None else self.labels_from.split(":")[1]

    @property
    def folds(self) -> "Folds | None":
        """Return the folds of a cross-validation, or None."""
        from core.data.folds import FoldColumn, RandomFolds

        return self.validation if isinstance(self.validation, RandomFolds | FoldColumn) else None

    @property
    def parts_are_random(self) -> bool:
        """Return whether queries are drawn at random for training, validation or test."""
        parts = (part for part in (self.validation, self.test) if not isinstance(part, HeldOutDataset))
        return self.training.bootstrap or any(part.is_random for part in parts if part is not None)

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folder of the checkpoints."""
        return [checkpoint_folder(job.id)]

    @classmethod
    def metrics_by_importance(cls, stored: Stored) -> list[str]:
        """Return the metric of early stopping, then the other requested metrics."""
        stopping_metric = (stored.get("early_stopping") or {}).get("metric")
        return [*([stopping_metric] if stopping_metric else []), *super().metrics_by_importance(stored)]
