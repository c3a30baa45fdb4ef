"""Requests and responses of schedules and their runs."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.clicks.schemas import ACTIONS
from app.datasets.hold_out_schemas import NamedValidation
from app.http.labels import NewProject
from app.http.schemas import (
    DisplayName,
    FailureReason,
    Json,
    ModelReference,
    PageModel,
    RequestModel,
    ResponseModel,
    example,
)
from app.jobs.requests.measuring import DriftRequest
from app.jobs.requests.training import AutomaticTrainingRequest, TrainingRequest
from app.studies.requests import TuningRequest
from core.schedules import Cron
from core.store import Schedule as ScheduleRow
from core.store import ScheduleRun as ScheduleRunRow
from core.store.clock import utc_now
from core.store.repositories.schedules import RunStatus

SHOWN_DUE_TIMES = 3

CronExpression = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="Minute, hour, day of the month, month and day of the week: `0 3 * * 1-5` is every"
        " weekday at 03:00",
        examples=["0 3 * * *"],
    ),
]
TimeZone = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Time zone of the expression, by its name in the IANA database",
        examples=["Europe/Zurich"],
    ),
]


class ServedClicks(RequestModel):
    """A selection of served rankings, from which each run creates a click log to train on."""

    model: ModelReference | None = Field(
        None, description="Model that served the rankings; the trained model when null", examples=["web"]
    )
    days: float = Field(30, gt=0, le=36_500, description="Number of days before the run to include")
    actions: dict[str, float] | None = Field(None, max_length=30, description=ACTIONS)


class ScheduledTrainRequest(TrainingRequest):
    """A training with datasets by name: each run uses the newest ready dataset of each name."""

    dataset: DisplayName = Field(examples=["clicks"])
    validation: NamedValidation | None = Field(
        None,
        description="Data that selects the best iteration, as in a training request, or another dataset by"
        " name",
    )
    test_dataset: DisplayName | None = Field(
        None, description="Name of a dataset, on which the model is evaluated, and whose documents it ranks"
    )
    served_clicks: ServedClicks | None = Field(
        None,
        description="Train on clicks on rankings that the service served: each run first creates a click log,"
        " and `clicks` selects the correction. `dataset` has the features",
    )


class ScheduledAutoTrainRequest(AutomaticTrainingRequest):
    """An automatic training with datasets by name: each run uses the newest ready dataset of each name."""

    dataset: DisplayName = Field(examples=["clicks"])
    test_dataset: DisplayName | None = Field(
        None,
        description="Name of a dataset, on which the final model is evaluated once, and whose documents it"
        " ranks",
    )


class ScheduledStudyRequest(TuningRequest):
    """A study with datasets by name: each run uses the newest ready dataset of each name."""

    kind: Literal["study"]
    dataset: DisplayName = Field(examples=["clicks"])
    test_dataset: DisplayName | None = Field(
        None, description="Name of another dataset to test on, instead of `test`"
    )


ScheduledJob = Annotated[
    ScheduledTrainRequest | ScheduledAutoTrainRequest | ScheduledStudyRequest | DriftRequest,
    Field(discriminator="kind"),
]


class PromoteRequest(RequestModel):
    """Promotion of the model of each run."""

    alias: str = Field(
        min_length=1,
        max_length=100,
        description="Alias to move to the new version if the version passes the gate of the alias, which must"
        " have one",
        examples=["champion"],
    )


class ScheduleRequest(RequestModel):
    """A job to queue repeatedly at set times."""

    name: DisplayName = Field(examples=["nightly web"])
    cron: CronExpression
    timezone: TimeZone = "UTC"
    job: ScheduledJob = Field(
        description="A training, an automatic training or a study with datasets by name, or a drift job"
    )
    promote: PromoteRequest | None = Field(
        None,
        description="Promotion of the trained model; no promotion when null. For a study, set its `alias`"
        " instead",
    )
    only_new_data: bool = Field(
        False,
        description="Skip due runs if the newest datasets are the same as in the last run with a result; no"
        " effect with `served_clicks` and drift jobs",
    )
    enabled: bool = Field(True, description="Whether the schedule is active; false pauses it")
    project: NewProject = Field(
        None,
        description="Project of the schedule; by default that of its `job`, or else the only project of the"
        " API key",
    )


class ScheduleChange(RequestModel):
    """Changes of a schedule; omitted fields stay."""

    name: DisplayName | None = Field(None, examples=["nightly web"])
    cron: CronExpression | None = Field(None, examples=["30 2 * * *"])
    timezone: TimeZone | None = None
    job: ScheduledJob | None = None
    promote: PromoteRequest | None = Field(None, description="Null to stop promoting models")
    only_new_data: bool | None = None
    enabled: bool | None = Field(None, description="False to pause, true to resume", examples=[False])


_TRAINING: Json = {
    "kind": "train",
    "model_name": "web",
    "dataset": "clicks",
    "validation": {"fraction": 0.2},
    "loss": {"name": "lambdarank"},
    "hyperparameters": {"num_iterations": 300},
    "metrics": ["ndcg@10"],
}
REQUEST_EXAMPLES: dict[str, Any] = {
    "own-clicks": {
        "summary": "A nightly training on the clicks on served rankings, promoted by the gate of its alias",
        "value": {
            "name": "nightly clicks",
            "cron": "0 2 * * *",
            "job": {**_TRAINING, "clicks": {"correction": "additive"}, "served_clicks": {"days": 14}},
            "promote": {"alias": "champion"},
        },
    },
    "retrain": {
        "summary": "Train on the newest clicks every night, and promote through the gate",
        "value": {
            "name": "nightly web",
            "cron": "0 3 * * *",
            "timezone": "Europe/Zurich",
            "job": _TRAINING,
            "promote": {"alias": "champion"},
            "only_new_data": True,
        },
    },
    "best": {
        "summary": "Find the best model every week, and promote it through the gate",
        "value": {
            "name": "weekly web",
            "cron": "0 1 * * 0",
            "job": {
                "kind": "auto-train",
                "model_name": "web",
                "dataset": "clicks",
                "budget_seconds": 3600,
            },
            "promote": {"alias": "champion"},
        },
    },
    "study": {
        "summary": "Tune on the newest clicks every month, and move the alias to a significantly better"
        " winner",
        "value": {
            "name": "monthly web",
            "cron": "0 1 1 * *",
            "job": {
                "kind": "study",
                "name": "leaves of the month",
                "model_name": "web",
                "dataset": "clicks",
                "test": {"fraction": 0.2},
                "base": {"loss": {"name": "lambdarank"}},
                "search_space": {"/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64}},
                "budget": {"trials": 20},
                "alias": "champion",
            },
        },
    },
    "drift": {
        "summary": "Check for drift every morning",
        "value": {
            "name": "morning drift",
            "cron": "0 6 * * *",
            "job": {"kind": "drift", "model": "web@champion", "days": 1},
        },
    },
}
CHANGE_EXAMPLES: dict[str, Any] = {
    "pause": {"summary": "Pause", "value": {"enabled": False}},
    "later": {"summary": "Run two hours later", "value": {"cron": "0 5 * * *"}},
}
_RUN_EXAMPLE: Json = {
    "id": "run_01k9x2m4q7c8v5n3b6r1",
    "schedule_id": "sch_01k9x2m4q7c8v5n3b6r1",
    "due_at": "2026-01-05T02:00:00Z",
    "missed_since": None,
    "trigger": "clock",
    "status": "promoted",
    "detail": "web:8 is not worse than web:7 by ndcg@10.",
    "datasets": {"train": "ds_01k9x2m4q7c8v5n3b6r1"},
    "job_id": "job_01k9x2z4q7c8v5n3b6r1",
    "study_id": None,
    "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
    "promotion_job_id": "job_01k9x2z4q7c8v5n3b6r2",
    "created_at": "2026-01-05T02:00:01Z",
    "started_at": "2026-01-05T02:00:01Z",
    "finished_at": "2026-01-05T02:04:31Z",
}


class ScheduleRun(ResponseModel):
    """A run of a schedule."""

    model_config = example(_RUN_EXAMPLE)

    id: str
    schedule_id: str
    due_at: datetime = Field(description="Due time, or time of the request")
    missed_since: datetime | None = Field(description="The first missed due time that this run replaces")
    trigger: Literal["clock", "request"]
    status: RunStatus = Field(
        description="Active: `queued`, `training`, `running`, `promoting`; ended: `promoted`, `refused`,"
        " `trained`, `succeeded`, `skipped`, `failed`"
    )
    detail: str | None = Field(description="Description of the outcome in one sentence")
    datasets: dict[str, str] = Field(description="Ids of the datasets by role: `train`, `validation`, `test`")
    job_id: str | None
    study_id: str | None = Field(None, description="The study of the run; null for a job")
    model_id: str | None
    promotion_job_id: str | None = Field(
        description="Job that compared the model with the alias's model for the gate"
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class ScheduleRunPage(PageModel):
    """A page of runs, newest first."""

    items: list[ScheduleRun]


class Schedule(ResponseModel):
    """A job that is queued repeatedly at set times."""

    model_config = example(
        {
            "id": "sch_01k9x2m4q7c8v5n3b6r1",
            **REQUEST_EXAMPLES["retrain"]["value"],
            "enabled": True,
            "next_run_at": "2026-01-06T02:00:00Z",
            "next_runs": [
                "2026-01-06T02:00:00Z",
                "2026-01-07T02:00:00Z",
                "2026-01-08T02:00:00Z",
            ],
            "last_run": _RUN_EXAMPLE,
            "problem": None,
            "project": "search",
            "key_id": "key_01k9x2m4q7c8v5n3b6r9",
            "created_at": "2026-01-04T10:02:11Z",
            "updated_at": "2026-01-05T02:00:01Z",
        }
    )

    id: str
    name: str
    cron: str
    timezone: str
    job: Json = Field(description="Requested job")
    promote: dict[str, str] | None
    only_new_data: bool
    enabled: bool
    next_run_at: datetime | None = Field(description="Next due time; null while the schedule is paused")
    next_runs: list[datetime] = Field(description="The next due times, at most three")
    last_run: ScheduleRun | None
    problem: FailureReason | None = Field(description="Why the service paused the schedule")
    project: str | None
    key_id: str | None = Field(description="API key that changed the schedule last, and that owns its jobs")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: ScheduleRow, last_run: ScheduleRunRow | None) -> "Schedule":
        """Return the response of a stored schedule."""
        promote = None if row.alias is None else {"alias": row.alias}
        due_times = _due_times(row)
        return cls.model_validate(
            {**row.column_values(), "promote": promote, "next_runs": due_times, "last_run": last_run}
        )


class DueTimes(ResponseModel):
    """The next due times of a cron expression."""

    items: list[datetime] = Field(
        description="At most three due times, in UTC",
        examples=[["2026-01-06T02:00:00Z", "2026-01-07T02:00:00Z", "2026-01-08T02:00:00Z"]],
    )


class SchedulePage(PageModel):
    """A page of schedules, in the requested order."""

    items: list[Schedule]


def _due_times(row: ScheduleRow) -> list[datetime]:
    """Return the stored next due time, and later due times that are in the future."""
    if row.next_run_at is None:
        return []
    following = Cron(row.cron, row.timezone).upcoming(max(row.next_run_at, utc_now()), SHOWN_DUE_TIMES - 1)
    return [row.next_run_at, *following]
