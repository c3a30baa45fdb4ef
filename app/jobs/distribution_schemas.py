"""Schemas of the distribution of a training over ranks: the request and its progress."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from app.http.schemas import RequestModel, ResponseModel
from core.training.distribution import DEFAULT_MOST_RANKS, LEAST_RANKS, MOST_RANKS, MOST_THREADS


class RanksRequest(RequestModel):
    """Number of processes that train a model together."""

    at_least: int = Field(
        LEAST_RANKS,
        ge=LEAST_RANKS,
        le=MOST_RANKS,
        description="Fewer do not start, and do not go on when others are lost",
        examples=[2],
    )
    at_most: int = Field(
        DEFAULT_MOST_RANKS,
        ge=LEAST_RANKS,
        le=MOST_RANKS,
        description="Of the processes that are free, no more take part; at least `at_least`",
        examples=[8],
    )


class DistributionRequest(RequestModel):
    """Train on several machines or processes, the ranks; their number does not change the model."""

    ranks: RanksRequest = Field(default_factory=RanksRequest)
    threads_per_rank: int = Field(1, ge=1, le=MOST_THREADS, description="Threads of each rank", examples=[4])


def _refuse_distribution(value: Any) -> None:
    if value is not None:
        raise PydanticCustomError(
            "not_distributed",
            "is for single trainings: studies and experiments train many models, each in one process",
        )


class UndistributedRequest(RequestModel):
    """Base of requests that start many trainings, none of which is distributed."""

    distribution: Annotated[SkipJsonSchema[None], BeforeValidator(_refuse_distribution)] = Field(
        None, exclude=True
    )


class RankProgress(ResponseModel):
    """Progress of one rank of a distributed training."""

    rank: int = Field(description="From 0", examples=[0])
    host: str = Field(description="Machine that it runs on", examples=["10.0.0.12"])
    queries: int | None = Field(None, description="Training queries that it holds", examples=[3784])
    documents: int | None = Field(None, description="Their documents", examples=[453_120])
    memory_bytes: int | None = Field(None, description="Memory that it takes", examples=[412_090_368])
    peak_memory_bytes: int | None = Field(
        None, description="Most memory that its process had, with what it shares", examples=[498_073_600]
    )
    sent_bytes: int | None = Field(
        None, description="Bytes that it has sent to the other ranks", examples=[31_457_280]
    )
    waiting_share: float | None = Field(
        None, description="Share of its time that it waited for other ranks, from 0 to 1", examples=[0.12]
    )
    stage: str = Field("", description="What it is doing", examples=["training"])
