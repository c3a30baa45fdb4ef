"""Counterfactual (off-policy) evaluation: metrics of new rankings from a log of another ranking."""

from core.clicks.counterfactual.estimates import (
    Estimates,
    Estimator,
    MinimumSupport,
    SystemEstimate,
    evaluate_rankings,
)
from core.clicks.counterfactual.held_out import HeldOutClicks
from core.clicks.counterfactual.importance import rank_weights
from core.clicks.counterfactual.rows import NewRanking, join_scores
from core.clicks.counterfactual.verdicts import (
    CounterfactualResult,
    admits_by_estimates,
    counterfactual_result,
)
