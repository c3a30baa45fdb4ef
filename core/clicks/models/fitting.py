"""Fit of click models to a log, with intervals and findings."""

from dataclasses import replace

from core.clicks.log import ClickLog
from core.clicks.models.components import movement_findings
from core.clicks.models.estimation import estimate, no_report
from core.clicks.models.intervals import with_intervals
from core.clicks.models.layout import QueryBlocks
from core.clicks.models.model import ClickModel
from core.clicks.models.specification import ClickModelSpec
from core.errors import InvalidInput
from core.ranges import use_threads
from core.types import Float64Array, OnPhaseProgress

_CONVERGENCE_TOLERANCE = 1e-3  # change of a parameter in the last iteration above which a finding warns


def fit_click_model(
    log: ClickLog,
    spec: ClickModelSpec | None = None,
    report: OnPhaseProgress = no_report,
    *,
    weights: Float64Array | None = None,
    threads: int = 1,
) -> ClickModel:
    """Estimate a click model from a log.

    Absent ranks of a list count as not shown: chain models continue with the next impression.

    Args:
        spec: The model and its options, or None for the defaults.
        report: Called with a step, the number of iterations or resamples done and their total; may raise to
            stop.
        weights: (n_lists,) weight of each list, 0 to ignore it; None for weight 1.
        threads: Threads to use; the result is the same for any number.

    Returns:
        The model, with intervals where `spec.resamples` is above 1 and the log has several users.

    Raises:
        InvalidInput: The log has no impression, or no click.

    Example:
        >>> import numpy as np
        >>> from core.data.texts import Texts
        >>> log = ClickLog(
        ...     np.array([0, 2, 4]), np.zeros(2, np.int32), np.array([0, 1, 1, 0], np.int32),
        ...     np.array([1, 2, 1, 2], np.int16), np.array([True, False, False, True]),
        ...     np.zeros(2, np.int32), np.arange(2, dtype=np.int32), Texts.of(["q"]), Texts.of(["a", "b"]),
        ... )
        >>> fit_click_model(log, ClickModelSpec(model="ctr", resamples=0)).relevance.tolist()
        [0.75, 0.25]
    """
    spec = ClickModelSpec() if spec is None else spec
    require_clicks(log)
    use_threads(threads)
    lists = QueryBlocks.of(log, spec.max_rank)
    in_order = lists.in_order(weights)
    model = estimate(lists, spec, in_order, report)
    if spec.resamples > 1 and log.n_units > 1:  # resamples of one user are equal
        model = with_intervals(model, lists, in_order, report)
    return replace(model, findings=(*_findings(model, lists, in_order),))


def require_clicks(log: ClickLog) -> None:
    """Refuse a log without impressions or clicks.

    Raises:
        InvalidInput: The log has none.
    """
    if not log.n_impressions:
        raise InvalidInput.at(
            "/click_log_id", "has no impressions; a click model needs lists with impressions"
        )
    if not log.clicks.any():
        raise InvalidInput.at(
            "/click_log_id",
            "has no clicks, so that nothing can be estimated; set weights for the actions that indicate"
            " relevance, and check that impressions and actions have the same ids",
        )


def _findings(model: ClickModel, lists: QueryBlocks, weights: Float64Array) -> list[str]:
    findings = []
    deepest = lists.log.max_rank
    if deepest > lists.max_rank:
        findings.append(
            f"Impressions at ranks {lists.max_rank + 1} to {deepest} are left out because of `max_rank`."
        )
    if model.changes and model.changes[-1] > _CONVERGENCE_TOLERANCE:
        findings.append(
            f"EM has not converged: the last iteration changed a parameter by {model.changes[-1]:.2g}."
            " Increase `iterations`."
        )
    return findings + movement_findings(model.spec, lists, weights)
