"""Schemas of the distribution of a training over ranks: the request and its progress."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from app.http.schemas import RequestModel, ResponseModel
from core.training.distribution import DEFAULT_MAX_RANKS, MAX_RANKS, MAX_THREADS, MIN_RANKS


class RanksRequest(RequestModel):
    """Number of processes that train a model together."""

    at_least: int = Field(
        MIN_RANKS,
        ge=MIN_RANKS,
        le=MAX_RANKS,
        description="Minimum number of ranks: with fewer, the training does not start or continue",
        examples=[2],
    )
    at_most: int = Field(
        DEFAULT_MAX_RANKS,
        ge=MIN_RANKS,
        le=MAX_RANKS,
        description="Maximum number of ranks, not below `at_least`",
        examples=[8],
    )


class DistributionRequest(RequestModel):
    """Train on several machines or processes, the ranks; their number does not change the model."""

    ranks: RanksRequest = Field(default_factory=RanksRequest)
    threads_per_rank: int = Field(1, ge=1, le=MAX_THREADS, description="Threads of each rank", examples=[4])


def _refuse_distribution(value: Any) -> None:
    if value is not None:
        raise PydanticCustomError(
            "not_distributed",
            "can only be used for single trainings; studies and experiments train each model in one process",
        )


class UndistributedRequest(RequestModel):
    """Base of requests that start many trainings, none of which is distributed."""

    distribution: Annotated[SkipJsonSchema[None], BeforeValidator(_refuse_distribution)] = Field(
        None, exclude=True
    )


class RankProgress(ResponseModel):
    """Progress of one rank of a distributed training."""

    rank: int = Field(description="From 0", examples=[0])
    host: str = Field(description="Machine that the rank runs on", examples=["10.0.0.12"])
    queries: int | None = Field(None, description="Training queries that the rank stores", examples=[3784])
    documents: int | None = Field(None, description="Documents of these queries", examples=[453_120])
    memory_bytes: int | None = Field(None, description="Current memory of the rank", examples=[412_090_368])
    peak_memory_bytes: int | None = Field(
        None, description="Peak memory of the rank's process, including shared memory", examples=[498_073_600]
    )
    sent_bytes: int | None = Field(
        None, description="Bytes that the rank has sent to other ranks", examples=[31_457_280]
    )
    waiting_share: float | None = Field(
        None, description="Share of time that the rank waited for other ranks, from 0 to 1", examples=[0.12]
    )
    stage: str = Field("", description="Current stage of the rank", examples=["training"])
