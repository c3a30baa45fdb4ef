"""Registry of bounds from papers, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from core.diagnostics import essential_loss as essential
from core.diagnostics import lambdaloss_bounds as lambdaloss
from core.diagnostics import softmax_bounds as softmax
from core.diagnostics.ranked_query import RankedQuery, log2_logistic

_CHEN_ON_PAIRS, _CHEN_ON_LISTS = "Chen et al. 2009, theorem 2 (1)", "Chen et al. 2009, theorem 2 (2)"
_CHEN_WEIGHTED = "Chen et al. 2009, section 4"
# RankNet's φ has the logarithm to base 2, as the proof of theorem 2 needs φ(0) = 1.
_PHIS = {"ranksvm": essential.hinge, "rankboost": essential.exponential, "ranknet": log2_logistic}


@dataclass(frozen=True)
class Bound:
    """An inequality lower ≤ upper of a paper.

    Attributes:
        name: Key: the larger side, followed by the smaller side or its metric where this is ambiguous.
        sides: Returns both sides, lower and upper, for a query with a relevant document.
    """

    name: str
    source: str
    sides: Callable[[RankedQuery], tuple[float, float]]


def _of_lambdaloss() -> list[Bound]:
    return [
        Bound("arp-loss1", "Wang et al. 2018, section 5.1", lambdaloss.arp_loss1_bounds_arp),
        Bound("arp-loss2", "Wang et al. 2018, section 5.1", lambdaloss.arp_loss2_bounds_arp),
        Bound("ndcg-loss1", "Wang et al. 2018, section 5.2", lambdaloss.ndcg_loss1_bounds_ndcg_cost),
        Bound("ndcg-loss2", "Wang et al. 2018, equation 16", lambdaloss.ndcg_loss2_bounds_ndcg_cost),
        Bound("ndcg-loss2++", "Wang et al. 2018, equation 19", lambdaloss.ndcg_loss2pp_bounds_both_metrics),
        Bound(
            "lambdarank", "Wang et al. 2018, proposition 5.1", lambdaloss.lambdarank_loss_bounds_its_metric
        ),
        Bound(
            "lambdarank-metric",
            "Wang et al. 2018, section 5.3",
            lambdaloss.lambdarank_metric_bounds_ndcg_cost,
        ),
    ]


def _of_essential_loss() -> list[Bound]:
    listed = [
        Bound("essential-ndcg", "Chen et al. 2009, theorem 1 (1)", essential.essential_loss_bounds_ndcg),
        Bound("essential-map", "Chen et al. 2009, theorem 1 (2)", essential.essential_loss_bounds_map),
        Bound("w-listmle", _CHEN_WEIGHTED, essential.weighted_listmle_bounds_essential_loss),
        Bound("listmle-w-listmle", _CHEN_WEIGHTED, essential.listmle_bounds_its_weighted_form),
    ]
    for measure, weigh in (("ndcg", essential.gain_weights), ("map", essential.equal_weights)):
        on_lists = partial(essential.listmle_bounds_essential_loss, weigh=weigh)
        listed.append(Bound(f"listmle-{measure}", _CHEN_ON_LISTS, on_lists))
        for name, phi in _PHIS.items():
            on_pairs = partial(essential.pairwise_loss_bounds_essential_loss, phi=phi, weigh=weigh)
            listed.append(Bound(f"{name}-{measure}", _CHEN_ON_PAIRS, on_pairs))
    for name, phi in _PHIS.items():
        weighted = partial(essential.weighted_pairwise_loss_bounds_essential_loss, phi=phi)
        looser = partial(essential.pairwise_loss_bounds_its_weighted_form, phi=phi)
        listed += [
            Bound(f"w-{name}", _CHEN_WEIGHTED, weighted),
            Bound(f"{name}-w-{name}", _CHEN_WEIGHTED, looser),
        ]
    return listed


def _of_softmax() -> list[Bound]:
    return [
        Bound("softmax-rr", "Bruch et al. 2019, theorems 1 and 2", softmax.softmax_bounds_reciprocal_rank),
        Bound("softmax-ndcg", "Bruch et al. 2019, theorem 3", softmax.softmax_bounds_ndcg),
    ]


BOUNDS: Mapping[str, Bound] = MappingProxyType(
    {bound.name: bound for bound in (*_of_lambdaloss(), *_of_essential_loss(), *_of_softmax())}
)
