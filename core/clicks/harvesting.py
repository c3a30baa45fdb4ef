"""Intervention harvesting: propensities of ranks from documents that were shown at several ranks."""

import numpy as np

from core.errors import InvalidInput
from core.types import Float64Array

_MIN_PROBABILITY, _MAX_PROBABILITY = 1e-4, 1.0 - 1e-4


def contrasts(shown: Float64Array, clicked: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return clicks and skips of documents at rank k that were also shown at rank k', (n_ranks, n_ranks).

    A pair has n_k impressions at rank k, of which c_k were clicked. The clicks are
    ĉ(k, k') = Σ c_k n_k' / (n_k + n_k') over the pairs shown at both ranks. The skips are the same sum with
    n_k − c_k instead of c_k (Mantel and Haenszel 1959).

    With two rankers that show each query equally often, these are the sums of Agarwal et al. 2019,
    equation 5, times a constant. The weights 1 / n_k of that paper have a higher variance where the numbers
    of impressions differ.

    Args:
        shown: (n_pairs, n_ranks) impressions.
        clicked: (n_pairs, n_ranks) clicks.

    Example:
        >>> shown, clicked = np.array([[10.0, 30.0], [5.0, 0.0]]), np.array([[4.0, 3.0], [5.0, 0.0]])
        >>> contrasts(shown, clicked)[0].tolist()
        [[0.0, 3.0], [0.75, 0.0]]
    """
    n_ranks = shown.shape[1]
    clicks, skips = np.zeros((n_ranks, n_ranks)), np.zeros((n_ranks, n_ranks))
    for k in range(n_ranks):
        for other in range(k + 1, n_ranks):
            both = shown[:, k] + shown[:, other]
            product = shown[:, k] * shown[:, other]
            weights = np.divide(product, both, out=np.zeros_like(both), where=product > 0.0)
            for one, two in ((k, other), (other, k)):
                rate = np.divide(clicked[:, one], shown[:, one], out=np.zeros_like(both), where=product > 0.0)
                clicks[one, two] = (weights * rate).sum()
                skips[one, two] = (weights * (1.0 - rate)).sum()
    return clicks, skips


def pivot(clicks: Float64Array, _skips: Float64Array) -> Float64Array:
    """Return p_k / p_1 = ĉ(k, 1) / ĉ(1, k) (Joachims et al. 2017; Agarwal et al. 2019, pivot-one).

    Raises:
        InvalidInput: For some rank, the documents shown there and at rank 1 have no clicks at one of the two.
    """
    _require_clicks_at_both(clicks, [(0, k) for k in range(1, len(clicks))], "adjacent or all-pairs")
    return np.append(1.0, clicks[1:, 0] / clicks[0, 1:])


def adjacent(clicks: Float64Array, _skips: Float64Array) -> Float64Array:
    """Return p_k / p_1 = Π ĉ(r + 1, r) / ĉ(r, r + 1) over r < k (Agarwal et al. 2019, adjacent chain).

    Raises:
        InvalidInput: The documents shown at some rank and at the next have no clicks at one of the two.
    """
    _require_clicks_at_both(clicks, [(k - 1, k) for k in range(1, len(clicks))], "all-pairs")
    below, above = np.diagonal(clicks, -1), np.diagonal(clicks, 1)
    return np.append(1.0, np.cumprod(below / above))


def all_pairs(clicks: Float64Array, skips: Float64Array) -> Float64Array:
    """Return the maximum likelihood estimate of p_k / p_1 (Agarwal et al. 2019, equation 7).

    Maximises Σ_{k≠k'} ĉ ln(p_k r_kk') + c̄ ln(1 − p_k r_kk'). r_kk' = r_k'k is the mean relevance of the
    documents shown at both ranks. All p and r are bounded from 1e-4 to 1 − 1e-4. The objective is concave
    in ln p and ln r.

    Raises:
        InvalidInput: A rank is not linked with rank 1. Two ranks are linked if documents shown at both have
            clicks at each of them.
    """
    _require_links_to_first_rank(clicks)
    from scipy import optimize

    n_ranks = len(clicks)
    upper = np.triu_indices(n_ranks, 1)
    index_of_pair = np.zeros((n_ranks, n_ranks), np.int64)
    index_of_pair[upper] = np.arange(len(upper[0]))
    index_of_pair += index_of_pair.T
    others = ~np.eye(n_ranks, dtype=np.bool_)
    total = max(float((clicks + skips).sum()), 1.0)

    def cost(logarithms: Float64Array) -> tuple[float, Float64Array]:
        log_click_probabilities = logarithms[:n_ranks, np.newaxis] + logarithms[n_ranks:][index_of_pair]
        skip_probabilities = -np.expm1(log_click_probabilities)
        value = (clicks * log_click_probabilities + skips * np.log(skip_probabilities))[others].sum()
        slope = np.where(others, clicks - skips * np.exp(log_click_probabilities) / skip_probabilities, 0.0)
        both = np.bincount(index_of_pair[others], slope[others], len(upper[0]))
        return -value / total, -np.append(slope.sum(axis=1), both) / total

    bounds = [(np.log(_MIN_PROBABILITY), np.log(_MAX_PROBABILITY))] * (n_ranks + len(upper[0]))
    start = np.full(len(bounds), np.log(0.5))
    # SciPy's L-BFGS-B calls LAPACK, whose threads block each other on a busy machine.
    options = {"maxfun": 100_000, "ftol": 1e-15, "xtol": 1e-12, "gtol": 1e-10}
    solution = optimize.minimize(cost, start, jac=True, method="TNC", bounds=bounds, options=options)
    propensities: Float64Array = np.exp(solution.x[:n_ranks] - solution.x[0])
    return propensities


def _require_clicks_at_both(clicks: Float64Array, links: list[tuple[int, int]], alternative: str) -> None:
    for k, other in links:
        if clicks[k, other] <= 0.0 or clicks[other, k] <= 0.0:
            raise InvalidInput.at(
                "/method",
                f"no document was shown and clicked at both ranks {k + 1} and {other + 1}; use"
                f" {alternative}, lower the value of positions, or randomise ranks for a while",
            )


def _require_links_to_first_rank(clicks: Float64Array) -> None:
    linked = np.zeros(len(clicks), np.bool_)
    linked[0] = True
    links = (clicks > 0.0) & (clicks.T > 0.0)
    for _ in range(len(clicks)):
        linked |= links[linked].any(axis=0)
    if not linked.all():
        first = int(np.flatnonzero(~linked)[0]) + 1
        raise InvalidInput.at(
            "/method",
            f"no clicked documents connect rank {first} with rank 1, directly or through other ranks; lower"
            " the value of positions, or randomise ranks for a while",
        )
