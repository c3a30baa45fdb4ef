"""Fields that several kinds of job requests share."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.http.labels import MultilineText, NewProject, Tags
from app.http.schemas import RequestModel, VisibleText
from core.errors import InvalidInput
from core.metrics import metric_name
from core.store.repositories.projects import Labels

DEFAULT_METRICS = ("ndcg@5", "ndcg@10")
MAX_METRICS = 32


def _stored_name(metric: str) -> str:
    try:
        return metric_name(metric)
    except InvalidInput:
        return metric  # submission checks refuse it, with a pointer


MetricName = Annotated[str, Field(max_length=64), AfterValidator(_stored_name)]
MetricNames = Annotated[
    list[MetricName],
    Field(
        min_length=1,
        max_length=MAX_METRICS,
        description="Names of metrics as listed by `GET /v1/metrics`",
        examples=[["ndcg@5", "ndcg@10", "map", "mrr"]],
    ),
]
Permutations = Annotated[
    int,
    Field(
        ge=1_000,
        le=10_000_000,
        description="Random permutations of Fisher's randomisation test; exact if few queries differ",
    ),
]
Priority = Literal["low", "normal", "high"]
Seed = Annotated[
    int,
    Field(
        ge=0,
        le=2**31 - 1,
        description="Seed of all random numbers, also of a loss without a `seed`; equal seeds give equal"
        " results",
    ),
]
AllowAbsentFeatures = Annotated[
    bool,
    Field(
        description="Continue if a dataset lacks more than half of the features that a model uses; otherwise"
        " the job fails"
    ),
]


class LimitsRequest(RequestModel):
    """Limits above which the job fails; the worker's limits apply as well."""

    seconds: float | None = Field(
        None, gt=0, le=31_536_000, description="Total running time of all attempts", examples=[3600]
    )
    memory_bytes: int | None = Field(
        None,
        ge=2**20,
        le=2**50,
        description="Maximum memory of the job in a worker",
        examples=[8_589_934_592],
    )


class QueuedRequest(RequestModel):
    """Fields shared by all job requests."""

    priority: Priority = Field(
        "normal",
        description="Jobs with a higher priority start first; equal priorities alternate between API keys",
    )
    limits: LimitsRequest | None = None
    # Name, notes, tags and project are not part of the specification.
    name: VisibleText | None = Field(
        None,
        exclude=True,
        description="Name of the job, shown instead of its default title",
        examples=["fewer leaves"],
    )
    notes: MultilineText | None = Field(
        None, exclude=True, description="Notes on the job", examples=["As of May"]
    )
    tags: Tags = Field(
        default_factory=dict, exclude=True, description="Tags of the job", examples=[{"team": "search"}]
    )
    project: NewProject = Field(None, exclude=True)

    def labels(self) -> Labels:
        """Return the name, notes, tags and project of the job."""
        return Labels(self.name, self.notes, self.tags, self.project)
