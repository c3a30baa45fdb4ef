"""Learning-rate schedule with restarts (Burges, Ragno and Le, 2006)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.scorers import NetworkScorer


@dataclass
class Schedule:
    """Learning rate and restarts of a training, determined by its training cost.

    Burges, Ragno and Le (2006), section 6.3: the learning rate is multiplied by 0.8 when the cost rises, and
    the network restarts with new weights after 50 epochs without a lower cost.

    Attributes:
        scorer: Requested scorer.
        learning_rate: Learning rate of the next epoch.
        costs: Training cost of each epoch since the weights were last drawn.
        restarts: Number of times that the weights were drawn again.

    Example:
        >>> from core.scorers import Linear
        >>> schedule = Schedule(Linear(decay_on_rise=0.8), learning_rate=1.0)
        >>> [schedule.record_epoch(cost) for cost in (3.0, 2.0, 2.5)], schedule.learning_rate
        ([False, False, False], 0.8)
    """

    scorer: NetworkScorer
    learning_rate: float
    costs: Sequence[float] = ()
    restarts: int = 0

    def record_epoch(self, cost: float | None) -> bool:
        """Record the training cost of an epoch, None where it was not measured.

        Returns:
            Whether the next epoch begins with new weights.
        """
        if cost is None:
            return False
        if self.costs and cost > self.costs[-1]:
            self.learning_rate *= self.scorer.decay_on_rise
        self.costs = (*self.costs, cost)
        patience = self.scorer.restart_epochs
        if patience is None or len(self.costs) - 1 - int(np.argmin(self.costs)) < patience:
            return False
        self.learning_rate, self.costs = self.scorer.learning_rate, ()
        self.restarts += 1
        return True
