"""Every metric by name, and how a metric is spelled: `ndcg`, `ndcg@10`, `rbp(0.95)@10`."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.metrics.base import Metric
from core.metrics.binary import (
    AveragePrecision,
    Precision,
    RankBiasedPrecision,
    Recall,
    ReciprocalRank,
    WinnerTakesAll,
)
from core.metrics.cascade import ExpectedReciprocalRank
from core.metrics.conventions import Conventions, conventions
from core.metrics.costs import AverageRelevancePosition, LambdaRankMetric, NdcgCost
from core.metrics.dcg import Dcg, Ndcg
from core.metrics.incomplete import Bpref
from core.metrics.pairs import Auc, PairwiseAccuracy

METRICS: Mapping[str, type[Metric]] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Ndcg,
            Dcg,
            AveragePrecision,
            ReciprocalRank,
            Precision,
            Recall,
            ExpectedReciprocalRank,
            RankBiasedPrecision,
            WinnerTakesAll,
            PairwiseAccuracy,
            Bpref,
            Auc,
            AverageRelevancePosition,
            NdcgCost,
            LambdaRankMetric,
        )
    }
)
_SPELLING = re.compile(
    r"(?P<name>[a-z-]+)(?:\((?P<persistence>0?\.[0-9]{1,6})\))?(?:@(?P<cutoff>[1-9][0-9]{0,5}))?"
)


def parse_metric(text: str, contract: str | Mapping[str, Any] | Conventions | None = None) -> Metric:
    """Build a metric from its spelling.

    Args:
        text: A name, with a cutoff as in `ndcg@10`; `rbp` may name its persistence, `rbp(0.95)`.
        contract: The conventions to keep: a preset, an object, or the default ones.

    Raises:
        InvalidInput: For an unknown name, a cutoff that is no whole number from 1 to 999999, or one that the
            metric does not take.

    Example:
        >>> parse_metric("ndcg@10").spelling
        'ndcg@10'
    """
    match = _SPELLING.fullmatch(text)
    if match is None or match["name"] not in METRICS:
        raise InvalidInput.at(
            "", f"unknown metric {text[:40]!r}; write {', '.join(METRICS)}, with a cutoff as in ndcg@10"
        )
    kind = METRICS[match["name"]]
    if match["cutoff"] and not kind.takes_cutoff:
        raise InvalidInput.at("", f"{kind.name} takes no cutoff; write {kind.name}")
    parts: dict[str, Any] = {"cutoff": int(match["cutoff"]) if match["cutoff"] else None}
    if match["persistence"]:
        if kind is not RankBiasedPrecision:
            raise InvalidInput.at("", f"{kind.name} takes nothing in brackets; write {kind.name}")
        parts["persistence"] = float(match["persistence"])
    return kind(**parts, conventions=conventions(contract))
