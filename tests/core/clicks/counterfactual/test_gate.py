"""Promotion by a counterfactual estimate."""

import numpy as np
import pytest

from core.clicks.counterfactual import CounterfactualResult, admits_by_estimates, counterfactual_result
from core.clicks.counterfactual.estimates import Estimates, ResampledEstimate, SystemEstimate


def result(
    champion: float, challenger: float, missing: str | None = None, unsupported: float = 0.0
) -> CounterfactualResult:
    """Return estimates whose difference has an interval of ±0.02; a share of the champion lacks support."""
    spread = np.linspace(-0.01, 0.01, 1_001)

    def estimated(
        name: str, value: float, sign: float, missing: str | None, unsupported: float = 0.0
    ) -> ResampledEstimate:
        support = (500.0, 0.01, 0.0, unsupported, missing)
        estimate = SystemEstimate(name, value, value - 0.01, value + 0.01, *support)
        return ResampledEstimate(estimate, value + sign * spread, unsupported)

    systems = [
        estimated("logged", 0.3, 0.0, "the logged ranking decides nothing"),
        estimated("web:3", champion, -1.0, None, unsupported),
        estimated("web:4", challenger, 1.0, missing),
    ]
    return counterfactual_result("dcg@10", "item_position", Estimates(900, 200, systems))


@pytest.mark.parametrize(
    ("champion", "challenger", "margin", "admitted", "words"),
    [
        (0.4, 0.5, 0.0, True, "web:4 is better than web:3 by dcg@10, estimated from clicks: 0.5000 against"),
        (0.4, 0.5, 0.05, True, "web:4 is better than web:3 "),
        (0.4, 0.41, 0.0, False, "there is no evidence that web:4 is better than web:3 "),
        (0.4, 0.41, 0.05, True, "web:4 is worse than web:3 by less than 0.05, if at all, "),
        (0.41, 0.4, 0.01, False, "web:4 may be worse than web:3 by 0.01 or more "),
        (0.5, 0.4, 0.0, False, "web:3 is better than web:4 "),
        (0.5, 0.4, 0.05, False, "web:3 is better than web:4 "),
        (0.43, 0.4, 0.1, True, "web:4 is worse than web:3 by less than 0.1, if at all, "),
    ],
)
def test_the_interval_must_lie_above_minus_the_margin(
    champion: float, challenger: float, margin: float, admitted: bool, words: str
) -> None:
    """Margin 0 requires a better challenger; a larger margin, one that is worse by less than the margin."""
    found, sentence = admits_by_estimates(margin, "web:3", "web:4", result(champion, challenger))
    assert found == admitted
    assert sentence.startswith(words)
    assert sentence.endswith(", over 900 lists")


def test_nothing_is_admitted_without_support() -> None:
    """A large estimated gain is not enough; the sentence has the reason and proposes an interleaving."""
    found, sentence = admits_by_estimates(
        0.5, "web:3", "web:4", result(0.1, 0.9, "the log does not support 60% of it")
    )
    assert not found
    assert sentence.startswith("no verdict by dcg@10, estimated from clicks: for web:4, the log does not")
    assert "interleaving" in sentence


def test_documents_without_support_must_not_reverse_a_difference() -> None:
    """A better estimate is no verdict where the other ranking has documents that the log never showed."""
    enough, short = (result(0.4, 0.45, unsupported=share) for share in (0.1, 0.15))
    assert enough.differences[-1].better == "web:4"
    assert admits_by_estimates(0.0, "web:3", "web:4", enough)[0]
    assert short.differences[-1].better is None
    assert short.differences[-1].sentence == (
        "No verdict on web:4 against web:3: dcg@10 +0.0500 [+0.0310, +0.0690], but the log does not support"
        " 15% of web:3 and 0% of web:4, which may reverse it."
    )
    found, sentence = admits_by_estimates(0.0, "web:3", "web:4", short)
    assert not found
    assert sentence.startswith("no verdict by dcg@10, estimated from clicks: documents that the log does not")


@pytest.mark.parametrize(
    ("challenger", "margin", "admitted"), [(0.39, 0.05, False), (0.45, 0.01, False), (0.45, 0.05, True)]
)
def test_documents_without_support_must_not_exceed_the_margin(
    challenger: float, margin: float, admitted: bool
) -> None:
    """The margin also holds for the difference in which such documents are as good as the others."""
    short = result(0.4, challenger, unsupported=0.15)
    assert short.differences[-1].corrected == pytest.approx(challenger - 0.4 / 0.85)
    found, sentence = admits_by_estimates(margin, "web:3", "web:4", short)
    assert found == admitted
    refused = f"or clipped weights, may make web:4 worse by more than {margin:g}; use"
    assert (refused in sentence) != admitted
