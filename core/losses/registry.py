"""Registry of losses by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.errors import InputProblem, InvalidInput
from core.losses.base import Loss
from core.losses.lambdaloss import ArpLoss1, ArpLoss2, NdcgLoss1, NdcgLoss2, NdcgLoss2PlusPlus
from core.losses.lambdarank import LambdaRank
from core.losses.listmle import ListMle, WeightedListMle
from core.losses.pointwise import MeanSquaredError
from core.losses.ranknet import (
    RankBoost,
    RankNet,
    RankSvm,
    WeightedRankBoost,
    WeightedRankNet,
    WeightedRankSvm,
)
from core.losses.softmax import ListNet, XeNdcg
from core.parameters import build, parameters_of, stored_values, values_of

LOSSES: Mapping[str, type[Loss]] = MappingProxyType(
    {
        loss.name: loss
        for loss in (
            MeanSquaredError,
            RankNet,
            WeightedRankNet,
            RankSvm,
            WeightedRankSvm,
            RankBoost,
            WeightedRankBoost,
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
        InvalidInput: Unknown name, or unknown or invalid hyperparameter.

    Example:
        >>> make_loss("ndcg-loss2++", mu=2).name
        'ndcg-loss2++'
    """
    if name not in LOSSES:
        raise InvalidInput.at("/name", f"unknown loss {name!r}; known are {', '.join(LOSSES)}")
    return build(LOSSES[name], hyperparameters)


def loss_values(loss: Loss) -> dict[str, Any]:
    """Return the name and the hyperparameters of a loss, the arguments of `make_loss`.

    Example:
        >>> loss_values(make_loss("mse"))
        {'name': 'mse'}
    """
    return {"name": loss.name, **values_of(loss)}


def stored_loss(name: str, **hyperparameters: Any) -> Loss:
    """Build a loss as a job stored it, perhaps before some of its hyperparameters existed.

    Raises:
        InvalidInput: As for `make_loss`.

    Example:
        >>> stored_loss("listmle"), make_loss("listmle").ties
        (ListMle(ties='input', seed=None), 'random')
    """
    completed = stored_values(LOSSES[name], hyperparameters) if name in LOSSES else hyperparameters
    return make_loss(name, **completed)


def check_combination(loss: Loss) -> None:
    """Refuse hyperparameters that have no effect but differ from their defaults; seeds are not checked.

    Raises:
        InvalidInput: With one problem per hyperparameter.

    Example:
        >>> check_combination(make_loss("lambdarank", persistence=0.5))
        Traceback (most recent call last):
        core.errors.InvalidInput: /persistence: has no effect unless target is rbp; leave it out
    """
    defaults = {p.name: p.default for p in parameters_of(type(loss)) if p.name != "seed"}
    problems = [
        InputProblem(f"/{name}", f"has no effect unless {condition}; leave it out")
        for name, condition in loss.ineffective_hyperparameters().items()
        if name in defaults and getattr(loss, name) != defaults[name]
    ]
    if problems:
        raise InvalidInput(*problems)
