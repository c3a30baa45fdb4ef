"""Responses that show studies and trials."""

from collections import Counter
from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator

from app.http.labels import ShownProject
from app.http.schemas import FailureReason, Json, PageModel, ResponseModel, example
from core.store import Study as StudyRow
from core.store import Trial as TrialRow
from core.store.repositories.study_progress import StudyStatus

TrialStatus = Literal["queued", "running", "succeeded", "pruned", "failed", "cancelled"]

_SENTENCE = (
    "Trial 31 is better than the default: ndcg@10 0.4635 against 0.4512 on 1,219 held-out queries,"
    " +0.0123 (95% interval +0.0071 to +0.0175, p = 0.0003). Its cross-validated ndcg@10, 0.4711 against"
    " 0.4530, is optimistic: it is the best of many trials."
)


class Budget(ResponseModel):
    """Budget of a study."""

    trials: int = Field(examples=[50])
    seconds: float | None
    patience: int | None


class TrialCounts(ResponseModel):
    """Trials by status."""

    asked: int = Field(description="All trials, in any status", examples=[50])
    queued: int
    running: int
    succeeded: int
    pruned: int
    failed: int
    cancelled: int


class TrialValue(ResponseModel):
    """A trial with its value."""

    number: int = Field(examples=[31])
    value: float = Field(examples=[0.4711])


class HeldOutValues(ResponseModel):
    """Metrics of winner and default on the held-out queries; null where nothing was compared."""

    winner: float | None = Field(examples=[0.4635])
    default: float | None = Field(examples=[0.4512])
    difference: float | None = Field(examples=[0.0123])
    interval: list[float] | None = Field(
        description="95 % interval of the difference", examples=[[0.0071, 0.0175]]
    )
    p_value: float | None = Field(description="Fisher's randomisation test, two-sided", examples=[0.0003])
    queries: int | None = Field(examples=[1219])


class CrossValidatedValues(ResponseModel):
    """Objectives of winner and default; optimistic for the winner, the best of many trials."""

    winner: float = Field(examples=[0.4711])
    default: float = Field(examples=[0.4530])


class Conclusion(ResponseModel):
    """The conclusion of a study."""

    sentence: str = Field(description="Conclusion", examples=[_SENTENCE])
    verdict: Literal["better", "worse", "no-evidence"] = Field(
        description="Verdict on the winner compared with the default on the held-out queries, at"
        " significance level 0.05"
    )
    comparison_id: str | None = Field(description="Comparison of winner and default; null if the default won")
    held_out: HeldOutValues
    cross_validated: CrossValidatedValues
    winner_number: int = Field(description="Number of the winning trial; 0 for the default")
    winner_model: str = Field(examples=["web:4"])
    default_model: str = Field(examples=["web:3"])
    promoted: str | None = Field(
        None,
        description="Outcome of the move of the alias; null without an alias, or if the winner is not"
        " significantly better",
    )


class Study(ResponseModel):
    """A hyperparameter search over trials of one training."""

    model_config = example(
        {
            "id": "std_01k9x3b1d5f8g2h4j6k9",
            "name": "leaves and rate",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "test": {"fraction": 0.2},
            "test_dataset_id": None,
            "base": {"loss": {"name": "lambdarank"}},
            "search_space": {
                "/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64, "log": True}
            },
            "objective": {"metric": "ndcg@10", "validation": {"folds": 5}},
            "sampler": "tpe",
            "pruner": "wilcoxon",
            "budget": {"trials": 50, "seconds": None, "patience": None},
            "parallel_trials": 2,
            "priority": "normal",
            "seed": 42,
            "alias": None,
            "status": "running",
            "counts": {
                "asked": 12,
                "queued": 0,
                "running": 2,
                "succeeded": 7,
                "pruned": 3,
                "failed": 0,
                "cancelled": 0,
            },
            "best": {"number": 9, "value": 0.4711},
            "default": {"number": 0, "value": 0.4530},
            "higher_is_better": True,
            "conclusion": None,
            "jobs": {"default": None, "winner": None, "conclusion": None},
            "problem": None,
            "key_id": None,
            "project": "web",
            "created_at": "2026-01-05T09:58:00Z",
            "started_at": "2026-01-05T09:58:01Z",
            "finished_at": None,
        }
    )

    id: str
    name: str
    model_name: str
    dataset_id: str
    test: Json | None = Field(description="Queries held out from all trials")
    test_dataset_id: str | None
    base: Json = Field(description="Training that trials vary, with all defaults")
    search_space: dict[str, Json]
    objective: Json
    sampler: str
    pruner: str
    budget: Budget
    parallel_trials: int
    priority: Literal["low", "normal", "high"]
    seed: int
    alias: str | None
    status: StudyStatus
    counts: TrialCounts
    best: TrialValue | None = Field(description="Best finished trial; null before a trial has finished")
    default: TrialValue | None = Field(description="Trial 0, the default; null before it has finished")
    higher_is_better: bool
    conclusion: Conclusion | None
    jobs: dict[str, str | None] = Field(
        description="Ids of the jobs that refit `default` and `winner`, and of the `conclusion` job",
    )
    problem: FailureReason | None = Field(description="Why the study failed")
    key_id: str | None
    project: ShownProject
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, row: StudyRow, counts: Counter[str]) -> "Study":
        """Return the response of a stored study."""
        spec_fields = (
            "test",
            "test_dataset_id",
            "search_space",
            "objective",
            "sampler",
            "pruner",
            "seed",
            "alias",
            "priority",
            "higher_is_better",
        )
        requested_base = row.spec["asked_base"]
        return cls.model_validate(
            {
                **row.column_values(),
                **{name: row.spec.get(name) for name in spec_fields},
                "base": {**requested_base, "hyperparameters": row.spec["base"]["hyperparameters"]},
                "budget": {"trials": row.trials, "seconds": row.seconds, "patience": row.patience},
                "counts": {
                    "asked": counts.total(),
                    **{name: counts[name] for name in TrialCounts.model_fields if name != "asked"},
                },
                "best": _value(row.best_number, row.best_value),
                "default": _value(0, row.default_value),
                "jobs": {
                    "default": row.default_job_id,
                    "winner": row.winner_job_id,
                    "conclusion": row.conclude_job_id,
                },
            }
        )


class StudyPage(PageModel):
    """A page of studies, in the requested order."""

    items: list[Study]


class TrialFold(ResponseModel):
    """One finished fold of a trial."""

    model_config = ConfigDict(extra="allow")

    fold: int = Field(description="Number of the fold, from 1", examples=[1])
    value: float | None = Field(
        description="Mean of the objective over the queries of the fold", examples=[0.4602]
    )
    best_iteration: int | None = Field(examples=[120])


class Trial(ResponseModel):
    """One trial of a study."""

    model_config = example(
        {
            "number": 9,
            "status": "succeeded",
            "source": "sampler",
            "parameters": {"/hyperparameters/num_leaves": 12},
            "value": 0.4711,
            "folds": [{"fold": 1, "value": 0.4602, "best_iteration": 120}],
            "interval": [0.4581, 0.4840],
            "best_iteration": 118,
            "job_id": "job_01k9x2z4q7c8v5n3b6r1",
            "started_at": "2026-01-05T09:58:01Z",
            "finished_at": "2026-01-05T09:58:21Z",
            "seconds": 20.0,
            "error": None,
        }
    )

    number: int = Field(description="Number of the trial in the study; 0 is the default")
    status: TrialStatus
    source: Literal["default", "sampler", "hand"] = Field(description="Origin of the parameters")
    parameters: dict[str, Any] | None = Field(
        description="Values by JSON pointer; null until the sampler has chosen them"
    )
    value: float | None = Field(
        description="Mean of the objective over the tested queries; for a pruned trial, over the queries of"
        " the finished folds"
    )
    folds: list[TrialFold] = Field(description="Finished folds")
    interval: list[float] | None = Field(description="95 % interval of the value over queries")
    best_iteration: int | None = Field(description="Median of the best iterations of the folds")
    job_id: str
    started_at: datetime | None
    finished_at: datetime | None
    seconds: float | None = Field(None, description="Duration of the trial")
    error: str | None = Field(None, description="Why the trial failed", validation_alias="problem")

    @classmethod
    def of(cls, row: TrialRow) -> "Trial":
        """Return the response of a stored trial."""
        trial = cls.model_validate(row)
        if row.started_at and row.finished_at:
            trial.seconds = round((row.finished_at - row.started_at).total_seconds(), 3)
        return trial

    @field_validator("folds", mode="before")
    @classmethod
    def _null_to_empty(cls, value: Any) -> Any:
        return value or []

    @field_validator("error", mode="before")
    @classmethod
    def _problem_detail(cls, value: Any) -> Any:
        return value.get("detail") or value.get("title") if isinstance(value, dict) else value


class TrialPage(PageModel):
    """A page of trials by number."""

    items: list[Trial]


class StudyImportance(ResponseModel):
    """Importance of the parameters for the value of a trial."""

    method: Literal["ped-anova"] = Field(
        description="PED-ANOVA, which compares the best tenth of the trials with all trials. Other methods"
        " may differ"
    )
    trials: int = Field(description="Number of trials that the importance was computed from", examples=[41])
    importances: dict[str, float] = Field(
        description="Importance by JSON pointer, largest first; the sum is 1, or 0 without any effect."
        " Parameters with values in fewer than five trials are omitted",
        examples=[{"/hyperparameters/learning_rate": 0.71, "/hyperparameters/num_leaves": 0.29}],
    )


def _value(number: int | None, value: float | None) -> Json | None:
    return None if number is None or value is None else {"number": number, "value": value}
