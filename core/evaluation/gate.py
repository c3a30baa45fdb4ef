"""Promotion gates: decide whether a challenger may replace the champion."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from core.doctor.report import Finding
from core.evaluation.paired import PairedDifference, format_p, paired_differences
from core.evaluation.segments import Slice
from core.metrics import largest_difference
from core.names import query_count
from core.stored import entry, read_entries
from core.types import Float64Array

Requirement = Literal["not_worse", "better"]
_MAX_NAMED_SEGMENTS = 3


@dataclass(frozen=True)
class CounterfactualRule:
    """Condition on a counterfactual estimate of the difference between challenger and champion.

    Attributes:
        dataset_id: The dataset with the documents that the models rank; its ids match those of the log.
        metric: Name of a metric that is a sum over clicks, such as `dcg@10`.
        estimator: Name of the estimator, see `core.clicks.counterfactual.Estimator`.
        normalised: Whether to divide the estimate by the mean weight.
        clip: Largest weight, None for no limit.
        examination: Examination probability of each rank from 1, only for the estimator `examination`.
        examination_errors: Standard error of ln `examination` of each rank; None where it is exact.
        margin: Non-inferiority margin: the interval of the difference must be above −margin. With 0, the
            challenger must be significantly better.
    """

    click_log_id: str
    dataset_id: str
    metric: str
    estimator: str
    normalised: bool = False
    clip: float | None = None
    examination: tuple[float, ...] | None = None
    examination_errors: tuple[float, ...] | None = entry(None, omit_default=True)
    margin: float = 0.0


@dataclass(frozen=True)
class GateRule:
    """The rule of a promotion gate.

    Attributes:
        metric: The decisive metric on judgments, such as `ndcg@10`; None if the gate uses only clicks.
        require: `better` admits only significantly better challengers, `not_worse` admits all that are not
            significantly worse.
        p: p-value of the randomisation test below which a difference is significant, in (0, 1].
        max_slice_drop: Largest allowed drop of the metric's mean on a segment of queries, None for no limit.
        min_slice_queries: Segments with fewer queries are ignored.
        better_than_baselines: Whether a challenger must be significantly better than all baselines.
        interleaving: Required verdict of an interleaving of both models, as in `require`; None for no
            requirement.
        counterfactual: Condition on an estimate from a click log; None for no requirement.
    """

    metric: str | None = None
    require: Requirement = "not_worse"
    p: float = 0.05
    max_slice_drop: float | None = None
    min_slice_queries: int = 30
    # Omitted from stored rules unless set: workers of an earlier release refuse rules with unknown fields.
    better_than_baselines: bool = entry(False, omit_default=True)
    interleaving: Requirement | None = entry(None, omit_default=True)
    counterfactual: CounterfactualRule | None = entry(
        None, omit_default=True, read=partial(read_entries, CounterfactualRule, exact=True)
    )


@dataclass(frozen=True)
class SliceChange:
    """The change of the metric on a segment, over its queries for which both models have a value.

    Attributes:
        by: Name of the segment's property, such as `market`.
        drop: Loss of the mean by the challenger, in the direction of the metric: champion − challenger where
            higher is better, else challenger − champion. Negative where the challenger is better.
        refused: Whether the drop exceeds the limit.
    """

    by: str
    value: str
    queries: int
    champion: float
    challenger: float
    drop: float
    refused: bool


@dataclass(frozen=True)
class GateDecision:
    """The decision of a promotion gate on a challenger.

    Attributes:
        sentence: The reason, with numbers.
        paired: Challenger (B) against champion (A), None where the metric is undefined for all queries.
    """

    admitted: bool
    sentence: str
    paired: PairedDifference | None
    slices: list[SliceChange]


def decide(
    rule: GateRule,
    names: tuple[str, str],
    values: tuple[Float64Array, Float64Array],
    segments: Sequence[Slice],
    *,
    findings_against_baselines: Sequence[Finding] = (),
    higher_is_better: bool = True,
    permutations: int = 100_000,
    seed: int = 0,
    threads: int = 1,
) -> GateDecision:
    """Compare a challenger with a champion by a rule, query by query.

    Args:
        values: (n_queries,) values of the metric for each, NaN where undefined.
        findings_against_baselines: The challenger's `baseline_findings`.
        permutations: Random assignments of Fisher's randomisation test.

    Example:
        >>> champion, challenger = np.linspace(0.3, 0.7, 100), np.linspace(0.2, 0.6, 100)
        >>> decide(GateRule("ndcg@10"), ("web:3", "web:4"), (champion, challenger), []).sentence
        'web:4 is worse than web:3 by ndcg@10: 0.4000 against 0.5000, p < 0.0001, over 100 queries'
    """
    champion, challenger = values
    (paired,) = paired_differences(
        champion[:, None],
        challenger[:, None],
        largest=None if rule.metric is None else [largest_difference(rule.metric)],
        permutations=permutations,
        seed=seed,
        threads=threads,
    )
    if paired is None:
        undefined = f"{rule.metric} is undefined on every query for {names[0]} or {names[1]}"
        return GateDecision(False, undefined, None, [])
    sign = 1.0 if higher_is_better else -1.0
    gain, is_significant = sign * paired.difference, paired.randomisation_p < rule.p
    changes = list(_changes(rule, sign, champion, challenger, segments))
    is_better, is_worse = is_significant and gain > 0.0, is_significant and gain < 0.0
    passes = is_better if rule.require == "better" else not is_worse
    numbers = (
        f"{paired.mean_b:.4f} against {paired.mean_a:.4f}, {format_p(paired.randomisation_p)},"
        f" over {query_count(paired.queries)}"
    )
    verdict = _verdict(rule.require, names, gain if is_significant else 0.0)
    too_few = [paired.too_few_warning.rstrip(".").lower()] if paired.too_few_warning else []
    segment_refusals = list(_segment_refusals(rule, sign, changes))
    unbeaten = [finding.title for finding in findings_against_baselines if rule.better_than_baselines]
    sentence = "; ".join((f"{verdict} by {rule.metric}: {numbers}", *too_few, *segment_refusals, *unbeaten))
    return GateDecision(passes and not segment_refusals and not unbeaten, sentence, paired, changes)


def _changes(
    rule: GateRule, sign: float, champion: Float64Array, challenger: Float64Array, segments: Sequence[Slice]
) -> Iterator[SliceChange]:
    defined = ~(np.isnan(champion) | np.isnan(challenger))
    for segment in segments:
        queries = segment.queries[defined[segment.queries]]
        if len(queries) < max(1, rule.min_slice_queries):
            continue
        before, after = float(champion[queries].mean()), float(challenger[queries].mean())
        drop = sign * (before - after)
        refused = rule.max_slice_drop is not None and drop > rule.max_slice_drop
        yield SliceChange(segment.by, segment.value, len(queries), before, after, drop, refused)


def _verdict(require: Requirement, names: tuple[str, str], significant_gain: float) -> str:
    champion, challenger = names
    if significant_gain:
        return f"{challenger} is {'better' if significant_gain > 0.0 else 'worse'} than {champion}"
    required = "better" if require == "better" else "worse"
    return f"there is no evidence that {challenger} is {required} than {champion}"


def _segment_refusals(rule: GateRule, sign: float, changes: Sequence[SliceChange]) -> Iterator[str]:
    refused = sorted((change for change in changes if change.refused), key=lambda change: -change.drop)
    moves = "falls" if sign > 0.0 else "rises"
    for change in refused[:_MAX_NAMED_SEGMENTS]:
        yield (
            f"the segment '{change.by}: {change.value}' {moves} by {change.drop:.4f},"
            f" more than {rule.max_slice_drop:g}"
        )
    if len(refused) > _MAX_NAMED_SEGMENTS:
        yield f"{len(refused) - _MAX_NAMED_SEGMENTS} more segments exceed the limit"
