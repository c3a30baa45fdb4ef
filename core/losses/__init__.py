"""Training losses: LOSSES names them, make_loss builds one, prepare binds it to a dataset."""

from core.losses.base import Loss, Objective, Terms
from core.losses.ndcg import LambdaRank, NdcgLoss2, NdcgLoss2PlusPlus
from core.losses.pointwise import MeanSquaredError
from core.losses.registry import LOSSES, make_loss

__all__ = [
    "LOSSES",
    "LambdaRank",
    "Loss",
    "MeanSquaredError",
    "NdcgLoss2",
    "NdcgLoss2PlusPlus",
    "Objective",
    "Terms",
    "make_loss",
]
