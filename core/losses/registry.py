"""Every loss by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.losses.arp import ArpLoss1, ArpLoss2
from core.losses.base import Loss
from core.losses.lambdarank import LambdaRank
from core.losses.listmle import ListMle, WeightedListMle
from core.losses.ndcg import NdcgLoss1, NdcgLoss2, NdcgLoss2PlusPlus
from core.losses.pointwise import MeanSquaredError
from core.losses.ranknet import RankBoost, RankNet, RankSvm, WeightedRankNet
from core.losses.softmax import ListNet, XeNdcg
from core.parameters import build, values_of

LOSSES: Mapping[str, type[Loss]] = MappingProxyType(
    {
        loss.name: loss
        for loss in (
            MeanSquaredError,
            RankNet,
            WeightedRankNet,
            RankSvm,
            RankBoost,
            LambdaRank,
            ArpLoss1,
            ArpLoss2,
            NdcgLoss1,
            NdcgLoss2,
            NdcgLoss2PlusPlus,
            ListNet,
            ListMle,
            WeightedListMle,
            XeNdcg,
        )
    }
)


def make_loss(name: str, **hyperparameters: Any) -> Loss:
    """Build a loss by name.

    Raises:
        InvalidInput: For an unknown name, or an unknown or unfit hyperparameter.

    Example:
        >>> make_loss("ndcg-loss2++", mu=2).name
        'ndcg-loss2++'
    """
    if name not in LOSSES:
        raise InvalidInput.at("/name", f"unknown loss {name!r}; known are {', '.join(LOSSES)}")
    return build(LOSSES[name], hyperparameters)


def loss_values(loss: Loss) -> dict[str, Any]:
    """Return the name and the hyperparameters of a loss, from which `make_loss` builds it again.

    Example:
        >>> loss_values(make_loss("mse"))
        {'name': 'mse'}
    """
    return {"name": loss.name, **values_of(loss)}
