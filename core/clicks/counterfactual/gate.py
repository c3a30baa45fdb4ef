"""Promotion gate by counterfactual estimates."""

from core.clicks.counterfactual.verdicts import CounterfactualResult, Difference

_ADVICE = "use a longer log that shows more of the ranked documents, another clip, or an interleaving"


def admits_by_estimates(
    margin: float, champion: str, challenger: str, result: CounterfactualResult
) -> tuple[bool, str]:
    """Return whether estimates allow a challenger to replace a champion, and the reason.

    The 95% interval of the difference must lie above −`margin`, so that a margin of 0 admits only a
    significantly better challenger. Without enough support in the log, no challenger is admitted, nor is one
    whose difference would be below −`margin` without clipping, if unsupported documents were as good as the
    others.

    Args:
        margin: Loss of the metric that the interval must exclude, at least 0.
        champion: Name of the champion among the rankings.
        challenger: Name of the challenger among the rankings.
        result: Estimates of both, the champion before the challenger.
    """
    by = f"by {result.metric}, estimated from clicks"
    pair = (champion, challenger)
    for system in result.systems:
        if system.name in pair and system.missing:
            return False, f"no verdict {by}: for {system.name}, {system.missing}; {_ADVICE}"
    difference = next(each for each in result.differences if (each.first, each.second) == pair)
    admitted = difference.lower is not None and difference.lower > -margin
    if admitted and difference.corrected < -margin:
        return False, f"no verdict {by}: {_reversal(difference, margin)}; {_ADVICE}"
    return admitted, f"{_verdict(difference, margin, admitted)} {by}: {_numbers(difference, result)}"


def _reversal(difference: Difference, margin: float) -> str:
    causes = "documents that the log does not support, or clipped weights,"
    if margin:
        return f"{causes} may make {difference.second} worse by more than {margin:g}"
    return f"{causes} may reverse it"


def _verdict(difference: Difference, margin: float, admitted: bool) -> str:
    champion, challenger = difference.first, difference.second
    if difference.better == challenger:
        return f"{challenger} is better than {champion}"
    if admitted:
        return f"{challenger} is worse than {champion} by less than {margin:g}, if at all,"
    if difference.better == champion:
        return f"{champion} is better than {challenger}"
    if margin:
        return f"{challenger} may be worse than {champion} by {margin:g} or more"
    return f"there is no evidence that {challenger} is better than {champion}"


def _numbers(difference: Difference, result: CounterfactualResult) -> str:
    values = {system.name: system.value for system in result.systems}
    has_interval = difference.lower is not None
    interval = f" [{difference.lower:+.4f}, {difference.upper:+.4f}]" if has_interval else ""
    return (
        f"{values[difference.second]:.4f} against {values[difference.first]:.4f},"
        f" difference {difference.value:+.4f}{interval},"
        f" over {result.lists:,} lists"
    )
