"""Training losses: LOSSES names them, make_loss builds one, prepare binds it to a dataset."""

from core.losses.base import DocumentWeightedLoss, Loss, Objective, Terms, seeded
from core.losses.registry import LOSSES, loss_values, make_loss

__all__ = [
    "LOSSES",
    "DocumentWeightedLoss",
    "Loss",
    "Objective",
    "Terms",
    "loss_values",
    "make_loss",
    "seeded",
]
