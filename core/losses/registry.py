"""Every loss by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.losses.base import Loss
from core.losses.ndcg import LambdaRank, NdcgLoss2, NdcgLoss2PlusPlus
from core.losses.pointwise import MeanSquaredError
from core.parameters import build

LOSSES: Mapping[str, type[Loss]] = MappingProxyType(
    {loss.name: loss for loss in (MeanSquaredError, LambdaRank, NdcgLoss2, NdcgLoss2PlusPlus)}
)


def make_loss(name: str, **hyperparameters: Any) -> Loss:
    """Build a loss by name.

    Raises:
        InvalidInput: For an unknown name, or an unknown or unfit hyperparameter.

    Example:
        >>> make_loss("ndcg-loss2++", mu=2)
        NdcgLoss2PlusPlus(sigma=1.0, truncation_level=None, mu=2.0)
    """
    if name not in LOSSES:
        raise InvalidInput.at("/name", f"unknown loss {name!r}; known are {', '.join(LOSSES)}")
    return build(LOSSES[name], hyperparameters)
