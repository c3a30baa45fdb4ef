"""Requests to submit jobs, a union discriminated by `kind`."""

from typing import Annotated, Literal

from pydantic import Field

from app.http.schemas import RequestModel
from app.jobs.requests.clicks import (
    ClickModelRequest,
    CounterfactualRequest,
    JudgeRequest,
    PropensityRequest,
    SimulateClicksRequest,
)
from app.jobs.requests.measuring import (
    CompareRequest,
    DriftRequest,
    EvaluateRequest,
    InspectRequest,
    RankDatasetRequest,
)
from app.jobs.requests.training import AutoTrainRequest, TrainRequest

AnyRequest = (
    TrainRequest
    | AutoTrainRequest
    | EvaluateRequest
    | RankDatasetRequest
    | CompareRequest
    | InspectRequest
    | DriftRequest
    | ClickModelRequest
    | JudgeRequest
    | CounterfactualRequest
    | PropensityRequest
    | SimulateClicksRequest
)
JobRequest = Annotated[AnyRequest, Field(discriminator="kind")]

MAX_BATCH_JOBS = 256


class RepeatsRequest(RequestModel):
    """Train several times with different seeds, to measure how much a metric varies by chance."""

    count: int = Field(
        ge=2, le=MAX_BATCH_JOBS, description="Number of repeats of each training", examples=[5]
    )
    by: Literal["bootstrap", "seed"] = Field(
        "bootstrap",
        description="`bootstrap`: train each on a bootstrap sample of the queries; `seed`: only change the"
        " seed, which affects options such as `query_fraction`",
    )


class JobBatchRequest(RequestModel):
    """Several jobs, such as the trainings of a grid, queued together or not at all."""

    jobs: list[JobRequest] = Field(min_length=1, max_length=MAX_BATCH_JOBS)
    repeats: RepeatsRequest | None = Field(
        None,
        description="Queue each training several times with consecutive seeds and the tags `grid` and"
        " `repeat`",
    )

    @property
    def size(self) -> int:
        """Number of jobs to queue."""
        return len(self.jobs) * (self.repeats.count if self.repeats else 1)
