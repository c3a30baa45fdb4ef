"""EM of the dynamic Bayesian network: users examine from the top until they are satisfied or give up."""

import numpy as np
import numpy.typing as npt

from core.clicks.models.counting import last_click
from core.clicks.models.layout import CLICKED, EXAMINED, SATISFIED, SUCCESSES, TRIALS, PairSums, QueryBlocks
from core.jit import compiled, inlined
from core.types import Float64Array, Int32Array, Int64Array

# α, σ and γ, and whether to compute as PyClick does.
_Parameters = tuple[Float64Array, Float64Array, float, bool]


def chain_pass(
    lists: QueryBlocks,
    weights: Float64Array,
    attractiveness: Float64Array,
    satisfaction: Float64Array,
    persistence: float,
    *,
    as_pyclick: bool,
) -> tuple[PairSums, Float64Array]:
    """Return the expected sums of one EM iteration (Chapelle and Zhang 2009, appendix).

    All ranks down to the last click are examined. κ_r = α_r + (1−α_r)γκ_{r+1} is the probability of a click
    at or below an examined rank r. ε_r is the probability that rank r is examined, given the clicks above it.
    A rank below the last click is examined with probability ε(1−κ) / (1−εκ). It is attractive with
    probability (1−ε)α / (1−εκ). The last click satisfies with probability σ / (1−(1−σ)γκ_{r+1}).

    Args:
        weights: (n_lists,) weight of each list, in the order of the blocks.
        attractiveness: (n_pairs,) α.
        satisfaction: (n_pairs,) σ.
        persistence: γ.
        as_pyclick: Whether to compute as PyClick does. ε is then the marginal probability for α, and a list
            without clicks is examined to its end. The continuation after the last rank, which no list
            shows, counts with its expectation.

    Returns:
        Sums by pair, and (2,) numbers of continuations and of opportunities to continue.
    """
    pairs = PairSums.zeros(len(attractiveness))
    continued = np.zeros((lists.n_blocks, 2))
    lists.run(
        _expect, weights, attractiveness, satisfaction, persistence, as_pyclick, pairs.values, continued
    )
    return pairs, continued.sum(axis=0)


@compiled
def _expect(
    first: int,
    last: int,
    blocks: Int64Array,
    boundaries: Int64Array,
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],  # noqa: ARG001 - as all kernels over lists
    clicks: npt.NDArray[np.bool_],
    weights: Float64Array,
    attractiveness: Float64Array,
    satisfaction: Float64Array,
    persistence: float,
    as_pyclick: bool,
    sums: Float64Array,
    continued: Float64Array,
) -> None:
    parameters = (attractiveness, satisfaction, persistence, as_pyclick)
    later = np.empty(2)
    for block in range(first, last):
        for entry in range(blocks[block], blocks[block + 1]):
            weight = weights[entry]
            if weight == 0.0:
                continue
            start, stop = boundaries[entry], boundaries[entry + 1]
            if stop - start >= len(later):
                later = np.empty(2 * (stop - start + 1))
            shown, clicked = pairs[start:stop], clicks[start:stop]
            _fill_later(shown, attractiveness, persistence, later)
            final = last_click(clicked, 0, len(shown))
            examined = len(shown) if as_pyclick and final < 0 else final + 1
            marginal = _add_examined(
                shown[:examined], clicked, final, weight, later, parameters, sums, continued[block]
            )
            _add_below(shown, examined, final, marginal, weight, later, parameters, sums, continued[block])


@inlined
def _fill_later(
    shown: Int32Array, attractiveness: Float64Array, persistence: float, later: Float64Array
) -> None:
    """Fill κ, the probability of a click at or below each rank, given that the rank is examined."""
    later[len(shown)] = 0.0
    for i in range(len(shown) - 1, -1, -1):
        alpha = attractiveness[shown[i]]
        later[i] = alpha + (1.0 - alpha) * persistence * later[i + 1]


@inlined
def _add_examined(
    examined: Int32Array,
    clicked: npt.NDArray[np.bool_],
    final: int,
    weight: float,
    later: Float64Array,
    parameters: _Parameters,
    sums: Float64Array,
    continued: Float64Array,
) -> float:
    """Add the documents down to the last click; return the marginal P(the next rank is examined)."""
    attractiveness, satisfaction, persistence, as_pyclick = parameters
    marginal = 1.0
    for i in range(len(examined)):
        pair = examined[i]
        sums[pair, TRIALS] += weight
        sums[pair, EXAMINED] += weight
        if clicked[i]:
            sums[pair, SUCCESSES] += weight
            sums[pair, CLICKED] += weight
        if i != final:
            continued[0] += weight
            continued[1] += weight
        else:
            sigma, kappa = satisfaction[pair], later[i + 1]
            satisfied = sigma / (1.0 - (1.0 - sigma) * persistence * kappa)
            sums[pair, SATISFIED] += weight * satisfied
            if i + 1 < len(clicked) or as_pyclick:
                epsilon = persistence * (1.0 - sigma)
                continued[0] += weight * epsilon * (1.0 - kappa) / (1.0 - epsilon * kappa)
                continued[1] += weight * (1.0 - satisfied)
        marginal *= persistence * (1.0 - attractiveness[pair] * satisfaction[pair])
    return marginal


@inlined
def _add_below(
    shown: Int32Array,
    examined: int,
    final: int,
    marginal: float,
    weight: float,
    later: Float64Array,
    parameters: _Parameters,
    sums: Float64Array,
    continued: Float64Array,
) -> None:
    """Add the documents below the last click, which may be examined or not."""
    attractiveness, satisfaction, persistence, as_pyclick = parameters
    epsilon = 1.0 if final < 0 else persistence * (1.0 - satisfaction[shown[final]])
    for i in range(examined, len(shown)):
        pair = shown[i]
        alpha, kappa = attractiveness[pair], later[i]
        scale = weight / (1.0 - epsilon * kappa)
        seen = epsilon * (1.0 - kappa) * scale
        sums[pair, TRIALS] += weight
        sums[pair, EXAMINED] += seen
        if as_pyclick:
            sums[pair, SUCCESSES] += weight * (1.0 - marginal) * alpha / (1.0 - marginal * kappa)
            marginal *= persistence * (1.0 - alpha * satisfaction[pair])
        else:
            sums[pair, SUCCESSES] += (1.0 - epsilon) * alpha * scale
        if i + 1 < len(shown) or as_pyclick:
            below = persistence * later[i + 1]
            continued[0] += seen * (persistence - below) / (1.0 - below)
            continued[1] += seen
        epsilon *= (1.0 - alpha) * persistence / (1.0 - epsilon * alpha)
