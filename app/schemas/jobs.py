"""Jobs as submitted, a union told apart by `kind`, and as shown."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from app.schemas.base import (
    FailureReason,
    Id,
    Json,
    ModelName,
    ModelReference,
    NextCursor,
    RequestModel,
    ResponseModel,
)
from app.schemas.findings import Finding
from app.schemas.losses import LossRequest
from app.schemas.parameters import request_model
from core.training import Hyperparameters

DEFAULT_METRICS = ("ndcg@5", "ndcg@10")
MAX_METRICS = 32
MAX_ROUNDS = 100_000

HyperparametersRequest: Any = request_model(
    "Hyperparameters", Hyperparameters, "How trees are grown, under LightGBM's own names."
)
MetricNames = Annotated[
    list[Annotated[str, Field(max_length=64)]],
    Field(
        min_length=1,
        max_length=MAX_METRICS,
        description="Spellings as `GET /v1/metrics` lists them",
        examples=[["ndcg@5", "ndcg@10", "map", "mrr"]],
    ),
]


class HeldOutDataset(RequestModel):
    """Validate on another dataset."""

    dataset_id: Id = Field(description="A ready dataset other than the one trained on", examples=["ds_…"])


class HeldOutFraction(RequestModel):
    """Hold out a share of the training dataset's queries."""

    fraction: float = Field(gt=0, lt=1, description="Share of the queries to hold out", examples=[0.2])


class HeldOutFold(RequestModel):
    """Hold out one of k parts of equal size of the training dataset's queries."""

    folds: int = Field(ge=2, le=10_000, description="Parts, k", examples=[5])
    fold: int = Field(ge=1, le=10_000, description="The part held out, from 1", examples=[1])


class HeldOutColumn(RequestModel):
    """Hold out the queries with certain values in a column of the training dataset."""

    column: str = Field(max_length=200, description="A column of the queries", examples=["split"])
    values: list[Annotated[str, Field(max_length=1000)]] = Field(
        min_length=1, max_length=1000, description="Values of the queries held out", examples=[["test"]]
    )


HoldOutRequest = HeldOutFraction | HeldOutFold | HeldOutColumn
_HOLD_OUT_FORMS = {"fraction": "held-out-fraction", "folds": "held-out-fold", "column": "held-out-column"}


def _form(forms: dict[str, str]) -> Any:
    def discriminate(value: Any) -> str | None:
        for name, form in forms.items():
            if (isinstance(value, dict) and name in value) or hasattr(value, name):
                return form
        return None

    return discriminate


_HoldOutForms = (
    Annotated[HeldOutFraction, Tag("held-out-fraction")]
    | Annotated[HeldOutFold, Tag("held-out-fold")]
    | Annotated[HeldOutColumn, Tag("held-out-column")]
)
_HOLD_OUT_MESSAGE = '{"fraction": 0.2}, {"folds": 5, "fold": 1} or {"column": "split", "values": ["test"]}'
HoldOut = Annotated[
    _HoldOutForms,
    Discriminator(
        _form(_HOLD_OUT_FORMS),
        custom_error_type="hold_out_form",
        custom_error_message=f"must be {_HOLD_OUT_MESSAGE}",
    ),
]
Validation = Annotated[
    Annotated[HeldOutDataset, Tag("held-out-dataset")] | _HoldOutForms,
    Discriminator(
        _form({"dataset_id": "held-out-dataset", **_HOLD_OUT_FORMS}),
        custom_error_type="validation_form",
        custom_error_message=f'must be {{"dataset_id": "ds_…"}}, {_HOLD_OUT_MESSAGE}',
    ),
]
LabelMap = Annotated[
    dict[str, float],
    Field(
        max_length=1000,
        description="Labels to replace, as text (`nan` is none), and what by",
        examples=[{"-1": 0, "nan": 0}],
    ),
]


class EarlyStoppingRequest(RequestModel):
    """Stop when validation no longer improves."""

    metric: str = Field(max_length=64, description="Watched on the validation data", examples=["ndcg@5"])
    rounds: int = Field(ge=1, le=MAX_ROUNDS, description="Iterations without improvement", examples=[30])


class TrainRequest(RequestModel):
    """Train a new version of a model."""

    kind: Literal["train"]
    model_name: ModelName
    dataset_id: Id = Field(description="A ready dataset to learn from")
    validation: Validation | None = Field(None, description="What picks the best iteration; none when null")
    test_dataset_id: Id | None = Field(None, description="A ready dataset to evaluate and rank at the end")
    test: HoldOut | None = Field(
        None, description="Instead of it, part of the training dataset, taken out before `validation`"
    )
    label_map: LabelMap = Field(default_factory=dict)
    loss: LossRequest
    hyperparameters: HyperparametersRequest = Field(default_factory=HyperparametersRequest)
    metrics: MetricNames = Field(default_factory=lambda: list(DEFAULT_METRICS))
    early_stopping: EarlyStoppingRequest | None = Field(None, description="Needs `validation`")
    seed: int = Field(
        42, ge=0, le=2**31 - 1, description="Decides every random choice; same seed, same model"
    )
    metric_interval: int = Field(
        1, ge=1, le=100_000, description="Iterations from one measurement of loss and metrics to the next"
    )


class EvaluateRequest(RequestModel):
    """Measure a model on a dataset."""

    kind: Literal["evaluate"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    metrics: MetricNames = Field(default_factory=lambda: list(DEFAULT_METRICS))
    label_map: LabelMap = Field(default_factory=dict)


class RankDatasetRequest(RequestModel):
    """Order a dataset's documents by a model."""

    kind: Literal["rank"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")


JobRequest = Annotated[TrainRequest | EvaluateRequest | RankDatasetRequest, Field(discriminator="kind")]

REQUEST_EXAMPLES: dict[str, Any] = {
    "train": {
        "summary": "Train with NDCG-Loss2++ and stop early",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"dataset_id": "ds_01k9x2m4q7c8v5n3b6r2"},
            "test_dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "loss": {"name": "ndcg-loss2++", "mu": 5.0, "truncation_level": 8},
            "hyperparameters": {"learning_rate": 0.05, "num_leaves": 64, "num_iterations": 500},
            "metrics": ["ndcg@5", "ndcg@10", "map", "mrr"],
            "early_stopping": {"metric": "ndcg@5", "rounds": 30},
            "seed": 42,
        },
    },
    "train-split": {
        "summary": "Train with a fifth of the queries held out",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
        },
    },
    "train-fold": {
        "summary": "Train on a dataset with a column that says which queries are for the test",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"folds": 5, "fold": 1},
            "test": {"column": "split", "values": ["test"]},
            "label_map": {"-1": 0},
            "loss": {"name": "lambdarank"},
        },
    },
    "evaluate": {
        "summary": "Evaluate the latest version of a model",
        "value": {
            "kind": "evaluate",
            "model": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metrics": ["ndcg@10"],
        },
    },
    "rank": {
        "summary": "Rank a dataset with an aliased model",
        "value": {"kind": "rank", "model": "web@champion", "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3"},
    },
}

JobKind = Literal["ingest", "train", "evaluate", "rank"]
JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]


class Progress(ResponseModel):
    """How far a running job is."""

    model_config = ConfigDict(from_attributes=True, extra="allow")

    phase: str = Field(description="What it is doing", examples=["training"])
    iteration: int | None = Field(None, description="Steps of the phase done", examples=[120])
    total: int | None = Field(None, description="Steps of the phase in all", examples=[500])
    eta_seconds: float | None = Field(None, description="Estimated time to the end", examples=[41.5])


class Job(ResponseModel):
    """A piece of work for a worker."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "job_01k9x2z4q7c8v5n3b6r1",
                    "kind": "rank",
                    "status": "running",
                    "spec": {
                        "kind": "rank",
                        "model": "web@champion",
                        "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
                        "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
                    },
                    "progress": {"phase": "scoring", "iteration": 0, "total": 1, "eta_seconds": None},
                    "metrics": None,
                    "result": None,
                    "problem": None,
                    "findings": None,
                    "attempt": 1,
                    "cancel_requested": False,
                    "created_at": "2026-01-05T09:58:00Z",
                    "started_at": "2026-01-05T09:58:01Z",
                    "finished_at": None,
                }
            ]
        },
    )

    id: str
    kind: JobKind
    status: JobStatus
    spec: Json = Field(description="What was asked for, all defaults and references spelled out")
    progress: Progress | None = Field(description="Null before it starts")
    metrics: dict[str, dict[str, float | None]] | None = Field(description="Latest values by data and metric")
    result: Json | None = Field(description="Ids of what it made: dataset, model, evaluation, ranking")
    problem: FailureReason | None = Field(description="Why it failed")
    findings: list[Finding] | None = Field(
        description="What the doctor says of its datasets beside each other; null before they were compared"
    )
    attempt: int = Field(description="How often a worker has claimed it")
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobPage(ResponseModel):
    """A page of jobs, newest first."""

    items: list[Job]
    next_cursor: NextCursor


class JobHistory(ResponseModel):
    """Learning curves: one value an iteration for each metric on each data."""

    job_id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    best_iteration: int | None = Field(description="Set once the job has made its model", examples=[2])
    iterations: list[int] = Field(description="1-based, in order", examples=[[1, 2, 3]])
    curves: dict[str, dict[str, list[float | None]]] = Field(
        examples=[{"train": {"ndcg@10": [0.31, 0.34, 0.36]}, "validation": {"ndcg@10": [0.30, 0.33, 0.32]}}]
    )
