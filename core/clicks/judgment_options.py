"""Options of judgments from a click model."""

import itertools
from dataclasses import dataclass

from core.errors import InvalidInput
from core.parameters import Numbers, check, parameter


@dataclass(frozen=True)
class JudgmentSpec:
    """The grading of documents by their relevance in a click model."""

    min_impressions: int = parameter(
        10, "Query-document pairs with fewer impressions are not judged.", minimum=1
    )
    quantiles: Numbers | None = parameter(
        (0.5, 0.75, 0.9, 0.97),
        "Quantiles of the relevances that separate grades: grade 1 begins above the first quantile.",
    )
    cuts: Numbers | None = parameter(
        None, "Relevances that separate grades, instead of quantiles: grade 1 begins above the first one."
    )
    shrink: bool = parameter(
        True, "Shrink each relevance toward the mean of all pairs, most where a pair has few impressions."
    )

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            InvalidInput: An option is out of bounds, or the limits of grades are absent or do not ascend.
        """
        check(self)
        name, limits = ("cuts", self.cuts) if self.cuts is not None else ("quantiles", self.quantiles)
        if not limits:
            raise InvalidInput.at("/quantiles", "required without `cuts`")
        if any(b <= a for a, b in itertools.pairwise(limits)):
            raise InvalidInput.at(f"/{name}", "must ascend")
        if name == "quantiles" and not 0.0 <= limits[0] <= limits[-1] < 1.0:
            raise InvalidInput.at("/quantiles", "must be at least 0 and below 1")
