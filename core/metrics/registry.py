"""Every metric by name, and its spellings: `ndcg`, `ndcg@10`, `rbp(0.95)@10`, `ndcg_cut_10`, `nDCG@10`."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
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
from core.metrics.incomplete import Bpref, InferredAveragePrecision, Judged
from core.metrics.pairs import Auc, PairwiseAccuracy
from core.metrics.recall_levels import ElevenPointAverage, InterpolatedPrecision, RPrecision
from core.metrics.tool_names import (
    IR_MEASURES_NAMES,
    TREC_EVAL_NAMES,
    TREC_EVAL_NAMES_AT,
    from_ir_measures,
    from_trec_eval,
    trec_eval_conventions,
)
from core.names import did_you_mean

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
            Judged,
            AverageRelevancePosition,
            NdcgCost,
            LambdaRankMetric,
        )
    }
)
_SPELLING = re.compile(
    r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)(?:\((?P<arguments>judged|0?\.[0-9]{1,6}(?:,judged)?)\))?"
    r"(?:@(?:(?P<cutoff>[1-9][0-9]{0,5})|(?P<recall>[01](?:\.[0-9]{1,4})?)))?"
)
_MISSPELT = re.compile(r"(?P<name>[^@()]*?)[@_. -]*(?P<cutoff>[1-9][0-9]{0,5})?")


def parse_metric(text: str, contract: str | Mapping[str, Any] | Conventions | None = None) -> Metric:
    """Parse a metric from its spelling: ours, trec_eval's or ir_measures'.

    Args:
        text: A name, with a cutoff as in `ndcg@10`, a recall as in `iprec@0.1`, or a persistence as in
            `rbp(0.95)`. `ndcg(judged)@10` and `rbp(0.95,judged)` remove unjudged documents from the ranking,
            as trec_eval's -J does. Names that only trec_eval has, such as `ndcg_cut_10`, imply the
            conventions of trec_eval, see `trec_eval_conventions`. Names of ir_measures, such as `nDCG@10`,
            are aliases of our names.
        contract: The conventions: a preset, an object, or None for the default.

    Raises:
        InvalidInput: For an unknown name, a cutoff that is not a whole number from 1 to 999999, or a cutoff
            for a metric without cutoffs.

    Example:
        >>> parse_metric("ndcg@10").cutoff
        10
        >>> parse_metric("ndcg_cut_10").conventions.gain
        'linear'
        >>> parse_metric("nDCG@10") == parse_metric("ndcg@10")
        True
    """
    metric_conventions = conventions(contract)
    translated = from_trec_eval(text)
    if translated is not None:
        return _parsed(translated, text, trec_eval_conventions(metric_conventions))
    return _parsed(from_ir_measures(text) or text, text, metric_conventions)


def metric_name(text: str) -> str:
    """Return the name under which a metric is stored and shown.

    A name of ir_measures is replaced by our name. A name that only trec_eval has is kept, because it implies
    the conventions of trec_eval.

    Raises:
        InvalidInput: As for `parse_metric`.

    Example:
        >>> metric_name("AP@100"), metric_name("map@100"), metric_name("map_cut_100")
        ('map@100', 'map@100', 'map_cut_100')
    """
    parse_metric(text)
    return from_ir_measures(text) or text


def largest_difference(text: str) -> float:
    """Return the largest possible difference of a metric on a query; infinite for an unknown metric.

    Example:
        >>> largest_difference("ndcg@10"), largest_difference("dcg@10"), largest_difference("revenue")
        (1.0, inf, inf)
    """
    try:
        low, high = parse_metric(text).bounds
    except InvalidInput:
        return math.inf
    return high - low


def check_differences(text: str) -> None:
    """Refuse a metric whose difference between systems is not the mean of the per-query differences.

    Raises:
        InvalidInput: The metric is averaged geometrically.
    """
    metric = parse_metric(text)
    if metric.geometric_mean:
        raise InvalidInput.at(
            "",
            f"{text} is a geometric mean over queries, so systems cannot be compared query by query; use map",
        )


def _parsed(spelling: str, text: str, metric_conventions: Conventions) -> Metric:
    match = _SPELLING.fullmatch(spelling)
    kind = METRICS.get(match["name"]) if match else None
    if match is None or kind is None or (match["recall"] and kind is not InterpolatedPrecision):
        raise InvalidInput.at("", f"unknown metric {text[:40]!r}; {_suggestion(text)}")
    parts: dict[str, Any] = {}
    if kind is InterpolatedPrecision:
        parts["recall"] = float(match["recall"] or match["cutoff"] or 0.0)
    elif match["cutoff"]:
        if not kind.takes_cutoff:
            raise InvalidInput.at("", f"{kind.name} has no cutoff; write {kind.name}")
        parts["cutoff"] = int(match["cutoff"])
    arguments = (match["arguments"] or "").split(",")
    persistence = arguments[0].removesuffix("judged")
    if persistence:
        if kind is not RankBiasedPrecision:
            raise InvalidInput.at("", f"{kind.name} has no number in brackets; write {kind.name}")
        parts["persistence"] = float(persistence)
    if "judged" in arguments:
        metric_conventions = replace(metric_conventions, judged_only=True)
    return kind(**parts, conventions=metric_conventions)


def _suggestion(text: str) -> str:
    """Return a suggestion of a similar metric for an unknown name, or a list of all metrics."""
    metric_by_alias = {
        **{name: name for name in METRICS},
        **TREC_EVAL_NAMES,
        **TREC_EVAL_NAMES_AT,
        **IR_MEASURES_NAMES,
    }
    written, at, _ = text.partition("@")
    named = metric_by_alias.get(written)
    if at and named and METRICS[named].takes_cutoff:
        return f"a cutoff is a whole number from 1 to 999999, as in {named}@10"
    match = _MISSPELT.fullmatch(text)
    name, cutoff = (match["name"], match["cutoff"]) if match else (text, None)
    spelled = {
        alias: f"{metric}@{cutoff}" if cutoff and METRICS[metric].takes_cutoff else metric
        for alias, metric in metric_by_alias.items()
    }
    return did_you_mean(name, spelled) or (
        f"known are {', '.join(METRICS)}, with a cutoff as in ndcg@10, and the names of trec_eval and"
        " ir_measures, such as ndcg_cut_10 and nDCG@10"
    )
