"""The job kinds `auto-train` and `try-candidates`: automatic trainings and the runs of their candidates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from core.jobs.base import JobLimits, JobSpec, Lane, SubmittedJob, UnfinishedJob
from core.jobs.folders import candidates_folder
from core.jobs.measuring import Measures, read_single_metric, write_single_metric
from core.stored import Stored, entry


@dataclass(frozen=True, kw_only=True)
class TryCandidatesJob(JobSpec):
    """Try candidates of an automatic training, parallel to the job of the training.

    Attributes:
        limits: Limits of the automatic training, which apply to each of its helper jobs, or None.
    """

    kind: ClassVar[str] = "try-candidates"
    label: ClassVar[str] = "Candidates"
    titled_by: ClassVar[tuple[str, ...]] = ("model_name",)
    lane: ClassVar[Lane] = Lane.TRAINING

    auto_train_id: str
    model_name: str
    priority: str = "normal"
    limits: JobLimits | None = entry(None, omit_default=True)


Preference = Literal["best", "simple"]


@dataclass(frozen=True, kw_only=True)
class AutoTrainJob(SubmittedJob):
    """Try a portfolio of trainings on held-out queries, and train the best one or their sum on all queries.

    Attributes:
        measures: The metric to select by, its conventions and the seed of all random choices.
        budget_seconds: Running time to plan for.
        prefer: `best` or `simple`, see `core.autotrain.trials.AutoSpec`.
        candidates: Names of the candidates to try, or None for all of the portfolio.
        test_dataset_id: Another dataset to evaluate the model on, once, or None.
    """

    kind: ClassVar[str] = "auto-train"
    label: ClassVar[str] = "Automatic training"
    titled_by: ClassVar[tuple[str, ...]] = ("model_name",)
    lane: ClassVar[Lane] = Lane.TRAINING
    main_data: ClassVar[tuple[str, ...]] = ("test", "held-out")

    model_name: str
    measures: Measures = entry(read=read_single_metric, write=write_single_metric, flat=True)
    budget_seconds: float = 300.0
    prefer: Preference = "best"
    candidates: tuple[str, ...] | None = None
    test_dataset_id: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def metric(self) -> str:
        """Return the spelling of the metric to select by."""
        return self.measures.metrics[0]

    @property
    def made_model_name(self) -> str:
        """Return the name of the model that gets a version."""
        return self.model_name

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets that the job trains and tests on."""
        test = {"test": self.test_dataset_id} if self.test_dataset_id else {}
        return {"train": self.dataset_id, **test}

    @property
    def tested_on(self) -> str | None:
        """Return the dataset that the model is tested on, or None."""
        return self.test_dataset_id

    @classmethod
    def metrics_by_importance(cls, stored: Stored) -> list[str]:
        """Return the metric to select by."""
        return [metric] if (metric := stored.get("metric")) else []

    @classmethod
    def orphaned_artifacts(cls, job: UnfinishedJob) -> list[str]:
        """Return the folder of the held-out scores of the candidates."""
        return [candidates_folder(job.id)]
