"""Every metric by name, and how a metric is spelled: `ndcg`, `ndcg@10`, `rbp(0.95)@10`, `ndcg_cut_10`."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.metrics.base import Metric
from core.metrics.binary import (
    AveragePrecision,
    GeometricMeanAveragePrecision,
    Precision,
    RankBiasedPrecision,
    Recall,
    ReciprocalRank,
    Success,
    WinnerTakesAll,
)
from core.metrics.cascade import ExpectedReciprocalRank
from core.metrics.conventions import Conventions, conventions
from core.metrics.costs import AverageRelevancePosition, LambdaRankMetric, NdcgCost
from core.metrics.dcg import Dcg, Ndcg
from core.metrics.incomplete import Bpref, InferredAveragePrecision
from core.metrics.pairs import Auc, PairwiseAccuracy
from core.metrics.recall_levels import ElevenPointAverage, InterpolatedPrecision, RPrecision
from core.metrics.trec_names import from_trec_eval, trec_eval_conventions

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
            InferredAveragePrecision,
            RPrecision,
            Success,
            GeometricMeanAveragePrecision,
            InterpolatedPrecision,
            ElevenPointAverage,
            Auc,
            AverageRelevancePosition,
            NdcgCost,
            LambdaRankMetric,
        )
    }
)
_SPELLING = re.compile(
    r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?:\((?P<persistence>0?\.[0-9]{1,6})\))?"
    r"(?:@(?:(?P<cutoff>[1-9][0-9]{0,5})|(?P<recall>[01](?:\.[0-9]{1,4})?)))?"
)


def parse_metric(text: str, contract: str | Mapping[str, Any] | Conventions | None = None) -> Metric:
    """Build a metric from its spelling, ours or trec_eval's.

    Args:
        text: A name, with a cutoff as in `ndcg@10`, or with a recall as in `iprec@0.1`; `rbp` may name its
            persistence, `rbp(0.95)`. What trec_eval alone spells so, `ndcg_cut_10`, keeps its conventions
            whatever the contract's; see `trec_eval_conventions`.
        contract: The conventions to keep: a preset, an object, or the default ones.

    Raises:
        InvalidInput: For an unknown name, a cutoff that is no whole number from 1 to 999999, or one that the
            metric does not take.

    Example:
        >>> parse_metric("ndcg@10").spelling
        'ndcg@10'
        >>> parse_metric("ndcg_cut_10").conventions.gain
        'linear'
    """
    held = conventions(contract)
    translated = from_trec_eval(text)
    if translated is not None:
        return _parsed(translated, text, trec_eval_conventions(held))
    return _parsed(text, text, held)


def check_differences(text: str) -> None:
    """Refuse a metric whose differences between systems are no means of the queries' differences.

    Raises:
        InvalidInput: The metric is averaged geometrically.
    """
    metric = parse_metric(text)
    if metric.geometric_mean:
        raise InvalidInput.at(
            "", f"{text} is a geometric mean over queries, which has no mean difference; compare by map"
        )


def _parsed(spelling: str, text: str, held: Conventions) -> Metric:
    match = _SPELLING.fullmatch(spelling)
    kind = METRICS.get(match["name"]) if match else None
    if match is None or kind is None or (match["recall"] and kind is not InterpolatedPrecision):
        raise InvalidInput.at(
            "",
            f"unknown metric {text[:40]!r}; write {', '.join(METRICS)}, with a cutoff as in ndcg@10, or as"
            " trec_eval does, ndcg_cut_10",
        )
    parts: dict[str, Any] = {}
    if kind is InterpolatedPrecision:
        parts["recall"] = float(match["recall"] or match["cutoff"] or 0.0)
    elif match["cutoff"]:
        if not kind.takes_cutoff:
            raise InvalidInput.at("", f"{kind.name} takes no cutoff; write {kind.name}")
        parts["cutoff"] = int(match["cutoff"])
    if match["persistence"]:
        if kind is not RankBiasedPrecision:
            raise InvalidInput.at("", f"{kind.name} takes nothing in brackets; write {kind.name}")
        parts["persistence"] = float(match["persistence"])
    return kind(**parts, conventions=held)
