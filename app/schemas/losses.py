"""Losses as requests, one model a loss derived from the registry, and as catalogue entries."""

from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field

from app.schemas.base import RequestModel, ResponseModel
from app.schemas.parameters import ParameterDescription, request_model
from core.losses import LOSSES


def _loss_request(name: str) -> type[RequestModel]:
    loss = LOSSES[name]
    tag = (Literal[name], Field(description=loss.summary))
    return request_model(
        f"{loss.__name__}Request", loss, f"{loss.summary}: {loss.formula}. {loss.source}.", name=tag
    )


_REQUESTS: tuple[type[RequestModel], ...] = tuple(_loss_request(name) for name in LOSSES)

# Any of the losses, told apart by `name`.
LossRequest: Any = Annotated[reduce(or_, _REQUESTS), Field(discriminator="name")]


class LossDescription(ResponseModel):
    """A loss in the catalogue."""

    name: str = Field(description="As written in requests", examples=["ndcg-loss2++"])
    summary: str = Field(description="One line", examples=["Tighter bound on the NDCG cost"])
    formula: str = Field(description="The loss as computed", examples=["Σ w ln(1 + e^{−σ(s_i − s_j)})"])
    source: str = Field(description="Where it was published", examples=["Wang et al. 2018, eq. 19"])
    choose: str = Field(description="When to choose it", examples=["NDCG counts"])
    parameters: list[ParameterDescription] = Field(description="Its hyperparameters")


class LossCatalogue(ResponseModel):
    """All losses that a training job may name."""

    items: list[LossDescription]
