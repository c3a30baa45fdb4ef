"""Batches of whole queries, and the learning-rate schedule of Burges, Ragno and Le (2006)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.clicks.binding import LossBinding
from core.data import RankingDataset
from core.data.features import Features, new_matrix, row_blocks
from core.losses.base import Objective
from core.scorers import InputTransform, NetworkScorer
from core.scorers.inputs import do_nothing
from core.training.sampling import derived_seed, uniform_numbers
from core.types import Float32Array, Int64Array

# Purposes of random choices for `derived_seed`; purposes below 100 are in `core.training.sampling`.
_QUERIES, _ORDER = 100, 101
_ROW_MULTIPLE = 8  # batches are padded to a multiple of this, so that JAX compiles few shapes
_BLOCK_CELLS = 2**22  # features scaled in one block, 32 MiB in float64
OnBlock = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Batch:
    """Queries of one optimisation step.

    Attributes:
        rows: Rows of the queries' documents in `Batches.inputs`.
        objective: The loss, bound to the queries' labels and weights.
    """

    rows: slice
    n_queries: int
    objective: Objective

    @property
    def n_documents(self) -> int:
        """Return the number of documents."""
        return int(self.rows.stop - self.rows.start)


@dataclass(frozen=True, eq=False)
class Batches:
    """The training queries in batches: the same batches in each epoch, in a new random order.

    Attributes:
        inputs: float32 (n_documents, n_inputs) inputs of the documents, batch after batch.
        documents: int64 (n_documents,) row of the dataset for each row of `inputs`.
    """

    batches: tuple[Batch, ...]
    inputs: Float32Array
    documents: Int64Array
    seed: int

    @classmethod
    def of(
        cls,
        dataset: RankingDataset,
        binding: LossBinding,
        transform: InputTransform,
        max_documents: int,
        seed: int,
        on_block: OnBlock = do_nothing,
    ) -> "Batches":
        """Partition the queries at random into batches of about equal size.

        Args:
            max_documents: Maximum number of documents in a batch; a batch of a single query may have more.
            on_block: Called between blocks of documents; whatever it raises ends the training.
        """
        lengths = np.diff(dataset.query_boundaries)
        drawn = np.argsort(
            uniform_numbers(np.uint64(derived_seed(seed, _QUERIES, 0)), len(lengths)), kind="stable"
        )
        batches, documents, first = [], [], 0
        for queries in _grouped(drawn, lengths, max_documents):
            rows = np.concatenate(
                [np.arange(*dataset.query_boundaries[query : query + 2]) for query in queries]
            )
            objective = binding.bind_queries(queries, rows)
            batches.append(Batch(slice(first, first + len(rows)), len(queries), objective))
            documents.append(rows)
            first += len(rows)
        order = np.concatenate(documents)
        inputs = inputs_of(dataset.features, transform, order, on_block)
        return cls(tuple(batches), inputs, order, seed)

    def of_epoch(self, epoch: int) -> Iterator[Batch]:
        """Yield all batches in the order of an epoch, counted from 1."""
        key = np.uint64(derived_seed(self.seed, _ORDER, epoch))
        for index in np.argsort(uniform_numbers(key, len(self.batches)), kind="stable"):
            yield self.batches[index]

    def padded_size(self, batch: Batch) -> int:
        """Return the number of rows that a batch is padded to: the usual size, or a power of two above it."""
        if batch.n_documents <= self._usual_size:
            return self._usual_size
        return max(_ROW_MULTIPLE, 1 << (batch.n_documents - 1).bit_length())

    @cached_property
    def _usual_size(self) -> int:
        """Return the number of rows that batches of several queries are padded to."""
        largest = max((batch.n_documents for batch in self.batches if batch.n_queries > 1), default=0)
        return -(-largest // _ROW_MULTIPLE) * _ROW_MULTIPLE  # rounded up


def inputs_of(
    features: Features,
    transform: InputTransform,
    order: Int64Array | None = None,
    on_block: OnBlock = do_nothing,
) -> Float32Array:
    """Return the inputs of documents as float32, (n_documents, n_inputs).

    Args:
        features: (n_documents, n_features).
        order: Rows of the features in the requested order; None for all rows in their order.
        on_block: Called between blocks of documents; whatever it raises ends the training.
    """
    inputs = new_matrix(features.shape[0], transform.n_inputs)
    if order is None:
        for rows, block in row_blocks(features):
            on_block()
            inputs[rows] = transform(block)
        return inputs
    step = max(1, _BLOCK_CELLS // max(features.shape[1], 1))
    for first in range(0, len(order), step):
        on_block()
        chunk = order[first : first + step]
        inputs[first : first + len(chunk)] = transform(features[chunk])
    return inputs


def _grouped(drawn: Int64Array, lengths: Int64Array, max_documents: int) -> Iterator[Int64Array]:
    """Split drawn queries into groups of similar size; only a single query may exceed `max_documents`."""
    total = int(lengths.sum())
    target = total / max(1, -(-total // max_documents))
    first = size = 0
    for index, query in enumerate(drawn):
        length = int(lengths[query])
        if size and (size + length > max_documents or size >= target):
            yield drawn[first:index]
            first, size = index, 0
        size += length
    yield drawn[first:]


@dataclass
class Schedule:
    """Learning rate and restarts of a training, determined by its training cost.

    Burges, Ragno and Le (2006), section 6.3: the learning rate is multiplied by 0.8 when the cost rises, and
    the network restarts with new weights after 50 epochs without a lower cost.

    Attributes:
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
