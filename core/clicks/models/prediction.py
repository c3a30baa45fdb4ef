"""Likelihood of clicks under a click model."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.clicks.models.browsing import examination_indices
from core.clicks.models.layout import QueryBlocks
from core.clicks.models.model import ClickModel
from core.jit import compiled, inlined
from core.types import Float64Array, Int32Array, Int64Array

MIN_PROBABILITY = 1e-6  # so that one unexpected click does not make a likelihood 0


@dataclass(frozen=True)
class Likelihoods:
    """Likelihoods of lists.

    Attributes:
        by_list: (n_lists,) mean of ln P over the impressions of each list of the log, given the clicks above;
            0 for ignored lists.
        by_rank: (max_rank + 1, 3) impressions, sum of log₂ P, and sum of log₂ P given the clicks above.
    """

    by_list: Float64Array
    by_rank: Float64Array


def likelihoods(model: ClickModel, lists: QueryBlocks, weights: Float64Array) -> Likelihoods:
    """Return the likelihoods of lists under a model.

    Args:
        lists: The lists, with the same pairs as the log from which the model was estimated.
        weights: (n_lists,) weights in the order of the blocks; lists of weight 0 are ignored, all others
            count equally.
    """
    by_list = np.zeros(lists.log.n_lists)
    by_rank = np.zeros((lists.n_blocks, lists.max_rank + 1, 3))
    parameters, n_pairs = model.parameters, lists.log.n_pairs
    if model.spec.model in ("cascade", "dcm", "sdbn", "dbn"):
        after_click = _after_click(model, lists.max_rank)
        satisfaction = np.zeros(n_pairs) if parameters.satisfaction is None else parameters.satisfaction
        persistence = 1.0 if parameters.persistence is None else parameters.persistence
        chain = (parameters.attractiveness, satisfaction, after_click, persistence)
        lists.run(_chain, weights, *chain, by_list, by_rank)
    else:
        indices = examination_indices("ubm" if model.spec.model == "ubm" else "pbm", lists.max_rank)
        examination = parameters.examination
        if examination is None:
            examination = np.ones(lists.max_rank)
        lists.run(_browse, weights, indices, parameters.attractiveness, examination, by_list, by_rank)
    in_log = np.empty_like(by_list)
    in_log[lists.order] = by_list
    return Likelihoods(in_log, by_rank.sum(axis=0))


def _after_click(model: ClickModel, max_rank: int) -> Float64Array:
    """Return the probability to continue after a click at each rank, (max_rank + 1,)."""
    if model.spec.model == "cascade":
        return np.zeros(max_rank + 1)
    continuation = model.parameters.continuation
    return np.ones(max_rank + 1) if continuation is None else continuation


@inlined
def _add_log_probabilities(
    rank: int, marginal: float, given: float, clicked: bool, by_rank: Float64Array
) -> float:
    """Add the log-probabilities of one impression; return ln P given the clicks above.

    `marginal` and `given` are the probabilities of a click, marginal and given the clicks above.
    """
    marginal, given = (marginal, given) if clicked else (1.0 - marginal, 1.0 - given)
    given = np.log(max(given, MIN_PROBABILITY))
    by_rank[rank, 0] += 1.0
    by_rank[rank, 1] += np.log2(max(marginal, MIN_PROBABILITY))
    by_rank[rank, 2] += given / np.log(2.0)
    return given


@compiled
def _browse(
    first: int,
    last: int,
    blocks: Int64Array,
    boundaries: Int64Array,
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],
    clicks: npt.NDArray[np.bool_],
    weights: Float64Array,
    indices: Int32Array,
    attractiveness: Float64Array,
    examination: Float64Array,
    by_list: Float64Array,
    by_rank: Float64Array,
) -> None:
    # Entry k: probability that the last click is at rank k, or for k = 0 that there is none. `last_at` covers
    # all documents so far, `above` only those above the current rank.
    last_at, above = np.empty(len(indices)), np.empty(len(indices))
    for block in range(first, last):
        for entry in range(blocks[block], blocks[block + 1]):
            if weights[entry] == 0.0:
                continue
            start, stop = boundaries[entry], boundaries[entry + 1]
            last_at[:] = 0.0
            last_at[0] = 1.0
            previous = clicked = 0
            total = 0.0
            for i in range(start, stop):
                rank, alpha = ranks[i], attractiveness[pairs[i]]
                if i == start or ranks[i - 1] < rank:
                    previous = clicked
                    above[:rank] = last_at[:rank]
                given = min(alpha * examination[indices[rank, previous]], 1.0)
                marginal = first_click = 0.0
                for k in range(rank):
                    click = min(alpha * examination[indices[rank, k]], 1.0)
                    marginal += above[k] * click
                    first_click += last_at[k] * click
                    last_at[k] *= 1.0 - click
                last_at[rank] += first_click
                total += _add_log_probabilities(rank, marginal, given, clicks[i], by_rank[block])
                if clicks[i]:
                    clicked = rank
            by_list[entry] = total / max(stop - start, 1)


@compiled
def _chain(
    first: int,
    last: int,
    blocks: Int64Array,
    boundaries: Int64Array,
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],
    clicks: npt.NDArray[np.bool_],
    weights: Float64Array,
    attractiveness: Float64Array,
    satisfaction: Float64Array,
    after_click: Float64Array,
    persistence: float,
    by_list: Float64Array,
    by_rank: Float64Array,
) -> None:
    for block in range(first, last):
        for entry in range(blocks[block], blocks[block + 1]):
            if weights[entry] == 0.0:
                continue
            start, stop = boundaries[entry], boundaries[entry + 1]
            examined = given = 1.0  # probabilities of examination, marginal and given the clicks above
            total = 0.0
            for i in range(start, stop):
                alpha = attractiveness[pairs[i]]
                continuation = persistence * after_click[ranks[i]] * (1.0 - satisfaction[pairs[i]])
                total += _add_log_probabilities(
                    ranks[i], alpha * examined, alpha * given, clicks[i], by_rank[block]
                )
                examined *= continuation * alpha + persistence * (1.0 - alpha)
                given = (
                    continuation if clicks[i] else given * persistence * (1.0 - alpha) / (1.0 - alpha * given)
                )
            by_list[entry] = total / max(stop - start, 1)
