"""Training losses: `LOSSES` by name, `make_loss` to build one, `Loss.prepare` to bind it to a dataset."""

from core.losses.base import Loss, Objective, seeded
from core.losses.registry import LOSSES, check_combination, loss_values, make_loss, stored_loss
