"""Measure the wall time of a RankNet epoch, factorised and pair by pair (Burges et al. 2006, figure 1).

Pair by pair is the RankNet that the paper calls V1, with one step for each batch. Each pair has a forward
pass and a backward pass through both documents. Only this benchmark uses it.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from core.clicks.binding import LossBinding
from core.data import RankingDataset, synthetic_dataset
from core.experiments.paper import EpochTiming
from core.losses import make_loss
from core.scorers import InputTransform, NetworkScorer, make_scorer
from core.training import training_spec
from core.training.networks.batches import Batches
from core.types import Float32Array, Int64Array

_BATCH_DOCUMENTS = 500
_EPOCHS = 4  # the fastest epoch is reported, as other load on the machine only adds time
_LONG_SECONDS = 5.0  # epochs that take longer are timed once
_PAIRS = 8_192  # pairs per forward and backward pass
_MAX_LISTED_DOCUMENTS = 4_096  # documents per query up to which pairs are listed before timing
_RATE = 1e-9  # so small that weights do not change during timing
_SEED = 1


def epoch_milliseconds(timing: EpochTiming) -> float:
    """Return the milliseconds of an epoch on one thread: network, objective and steps, without metrics."""
    dataset = synthetic_dataset(timing.queries, seed=_SEED, documents_per_query=timing.documents)
    return _pair_by_pair(timing, dataset) if timing.pair_by_pair else _factorised(timing, dataset)


def _scorer_json(timing: EpochTiming) -> dict[str, Any]:
    net = {"kind": "mlp", "hidden": list(timing.hidden), "activation": "tanh"} if timing.hidden else {}
    return {
        "kind": "linear",
        **net,
        "epochs": _EPOCHS + 1,
        "batch_documents": _BATCH_DOCUMENTS,
        "optimizer": "sgd",
        "learning_rate": _RATE,
    }


def _factorised(timing: EpochTiming, dataset: RankingDataset) -> float:
    from core.training.networks import train_network

    spec = training_spec(
        {"loss": {"name": "ranknet"}, "scorer": _scorer_json(timing), "metric_interval": _EPOCHS + 1}
    )
    history = train_network(spec, dataset).history
    # The first epoch compiles; the last one also scores for the metrics.
    return min(report.milliseconds["network"] + report.milliseconds["objective"] for report in history[1:-1])


def _pair_by_pair(timing: EpochTiming, dataset: RankingDataset) -> float:
    scorer = make_scorer(_scorer_json(timing))
    if not isinstance(scorer, NetworkScorer):
        raise TypeError("the scorer is not a network")
    transform = InputTransform.fit(
        dataset.features, kind=scorer.inputs, log1p=scorer.log1p, missing_indicators=scorer.missing_indicators
    )
    batches = Batches.of(
        dataset,
        LossBinding(make_loss("ranknet"), dataset),
        transform,
        scorer.batch_size(dataset.n_documents),
        _SEED,
    )
    descent = PairByPair(drawn_weights(transform.n_inputs, timing.hidden))
    queries = np.repeat(np.arange(dataset.n_queries), np.diff(dataset.query_boundaries))[batches.documents]
    labels = dataset.labels[batches.documents]
    pairs = [_pairs(labels[batch.rows], queries[batch.rows], timing.documents) for batch in batches.batches]
    learn = partial(_learn_epoch, descent, batches, pairs)
    first = next(iter(batches.batches)).rows
    descent.step(batches.inputs[first], [np.zeros((1, 2), np.int64)])  # compiles
    fastest = np.inf
    for _ in range(_EPOCHS):
        start = time.perf_counter()
        learn()
        seconds = time.perf_counter() - start
        fastest = min(fastest, seconds)
        if seconds > _LONG_SECONDS:
            break
    return 1e3 * float(fastest)


def _learn_epoch(
    descent: "PairByPair", batches: Batches, pairs: Sequence[Callable[[], Iterable[Int64Array]]]
) -> None:
    for batch, pairs_of_batch in zip(batches.batches, pairs, strict=True):
        descent.step(batches.inputs[batch.rows], pairs_of_batch())


def _pairs(labels: Float32Array, queries: Int64Array, documents: int) -> Callable[[], Iterable[Int64Array]]:
    """Return a function that returns the pairs of a batch, listed in advance unless too many for memory."""
    if documents > _MAX_LISTED_DOCUMENTS:
        return partial(pairs_of, labels, queries)
    listed = list(pairs_of(labels, queries))
    return lambda: listed


def pairs_of(labels: Float32Array, queries: Int64Array) -> Iterator[Int64Array]:
    """Yield all pairs of documents of a query with y_i > y_j, int64 (n, 2), some thousands at a time.

    Args:
        labels: (n_documents,) labels.
        queries: (n_documents,) query of each document; documents of a query are adjacent.
    """
    starts = np.flatnonzero(np.r_[True, queries[1:] != queries[:-1]])
    waiting: list[Int64Array] = []
    count = 0
    for first, stop in zip(starts, [*starts[1:], len(labels)], strict=True):
        for document in range(first, stop):
            lower = first + np.flatnonzero(labels[first:stop] < labels[document])
            if len(lower):
                waiting.append(np.column_stack((np.full(len(lower), document), lower)))
                count += len(lower)
            if count >= _PAIRS:
                yield np.concatenate(waiting)
                waiting, count = [], 0
    if waiting:
        yield np.concatenate(waiting)


def drawn_weights(n_inputs: int, hidden: tuple[int, ...]) -> list[dict[str, Any]]:
    """Draw the weights of a network by Glorot and Bengio's uniform initialisation."""
    generator = np.random.default_rng(_SEED)
    sizes = (n_inputs, *hidden, 1)
    layers = []
    for inputs, outputs in itertools.pairwise(sizes):
        bound = np.sqrt(6.0 / (inputs + outputs))
        weights = generator.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)
        layers.append({"weights": weights, "bias": np.zeros(outputs, np.float32)})
    return layers


class PairByPair:
    """RankNet with a forward and a backward pass for each pair.

    Args:
        weights: `weights` and `bias` of each layer.
    """

    def __init__(self, weights: list[dict[str, Any]]) -> None:
        import jax
        import jax.numpy as jnp

        from core.training.networks.differentiation import scores_of  # the import sets JAX's flags

        def loss(parameters: Any, inputs: Any, first: Any, second: Any, counts: Any) -> Any:
            better = scores_of(parameters, inputs[first], "tanh")
            worse = scores_of(parameters, inputs[second], "tanh")
            return jnp.sum(counts * jax.nn.softplus(worse - better))

        self._jax = jax
        self._gradient = jax.jit(jax.grad(loss))
        self.weights: Any = jax.tree.map(jnp.asarray, weights)

    def gradient(self, inputs: Float32Array, pairs: Iterable[Int64Array]) -> Any:
        """Return the derivative of the loss by the weights, summed over all pairs; None without pairs.

        Args:
            inputs: (n_documents, n_inputs).
            pairs: int64 (n, 2) arrays of pairs; the first document should rank higher.
        """
        total = None
        for array in pairs:
            for begin in range(0, len(array), _PAIRS):
                chunk = array[begin : begin + _PAIRS]
                padded = np.zeros((_PAIRS, 2), np.int64)
                padded[: len(chunk)] = chunk
                counts = (np.arange(_PAIRS) < len(chunk)).astype(np.float32)
                gradient = self._gradient(self.weights, inputs, padded[:, 0], padded[:, 1], counts)
                total = gradient if total is None else self._jax.tree.map(np.add, total, gradient)
        return total

    def step(self, inputs: Float32Array, pairs: Iterable[Int64Array]) -> None:
        """Take a step down the gradient of the pairs; without pairs, do nothing."""
        gradient = self.gradient(inputs, pairs)
        if gradient is not None:
            self.weights = self._jax.tree.map(
                lambda weight, slope: weight - _RATE * slope, self.weights, gradient
            )
