"""User models of simulations: examination of ranked lists, and clicks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from core.errors import InvalidInput
from core.parameters import Numbers, check, parameter
from core.types import Float64Array, FloatArray

_ATTRACTION = (0.1, 0.16, 0.28, 0.52, 1.0)
_EXAMINATION = (0.68, 0.61, 0.48, 0.34, 0.28, 0.2, 0.11, 0.1, 0.08, 0.06)
# Ranks up to which the probability of a click on an attractive (unattractive) document changes, for `trust`.
_POSITIVE_TRUST_RANKS = 20
_NEGATIVE_TRUST_RANKS = 10
KINDS = ("pbm", "cascade", "dbn", "trust")


@dataclass(frozen=True)
class UserModel:
    """A model of clicks on judged documents, where a is the attraction of a document by its label.

    `pbm`: P(click) = θ_k a, ranks are examined independently (Richardson et al. 2007). `cascade`: ranks are
    examined from the top until the first click (Craswell et al. 2008). `dbn`: a click satisfies the user with
    the probability `satisfaction` of the label, and the user leaves. Otherwise, the user continues with the
    probability `continuation` (Chapelle and Zhang 2009). `trust`: P(click) = θ_k (ε⁺_k a + ε⁻_k (1 − a)),
    where users also click irrelevant documents near the top (Agarwal et al. 2019).

    Raises:
        InvalidInput: With one problem per option that is out of bounds.
    """

    kind: str = parameter("pbm", "User model", choices=KINDS)
    attraction: Numbers = parameter(
        _ATTRACTION,
        "Probability of a click on an examined document by label from 0; higher labels have the last"
        " probability",
        minimum=0.0,
        maximum=1.0,
    )
    examination: Numbers = parameter(
        _EXAMINATION,
        "Probability θ of examining each rank, for pbm and trust; ranks after the last entry have its"
        " probability",
        minimum=0.0,
        above=True,
        maximum=1.0,
    )
    severity: float = parameter(1.0, "Exponent η of θ: 0 for no position bias", minimum=0.0, maximum=10.0)
    satisfaction: Numbers = parameter(
        (0.2, 0.3, 0.5, 0.7, 0.9),
        "Probability of leaving after a click by label, for dbn",
        minimum=0.0,
        maximum=1.0,
    )
    continuation: float = parameter(
        1.0, "Probability of continuing to the next rank, for dbn", minimum=0.0, maximum=1.0
    )
    false_click: float = parameter(
        0.65,
        "Probability ε⁻ of a click on an unattractive document at the first rank, for trust: ε⁻_k ="
        " false_click / min(k, 10)",
        minimum=0.0,
        maximum=0.98,
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def is_sequential(self) -> bool:
        """Return whether the examination of a rank depends on the ranks above."""
        return self.kind in ("cascade", "dbn")

    def attractions(self, labels: FloatArray) -> Float64Array:
        """Return the attraction of each document, (n_documents,); labels below 0 and NaN count as 0."""
        return _by_label(self.attraction, labels)

    def satisfactions(self, labels: FloatArray) -> Float64Array:
        """Return the probability of leaving after a click on each document, (n_documents,)."""
        if self.kind == "cascade":
            return np.ones(len(labels))
        return _by_label(self.satisfaction, labels)

    def examinations(self, n_ranks: int) -> Float64Array:
        """Return θ of the ranks from 1, (n_ranks,); 1 where examination depends on the ranks above."""
        if self.is_sequential:
            return np.ones(n_ranks)
        indices = np.minimum(np.arange(n_ranks), len(self.examination) - 1)
        examined: Float64Array = np.asarray(self.examination)[indices] ** self.severity
        return examined

    def click_bounds(self, n_ranks: int) -> tuple[Float64Array, Float64Array]:
        """Return P(click | examined) of an attractive and of an unattractive document by rank, (n_ranks,).

        ε⁺_k = 1 − (min(k, 20) + 1) / 100 (Vardasbi et al. 2021, equations 10 and 11); 1 and 0 without trust.
        """
        if self.kind != "trust":
            return np.ones(n_ranks), np.zeros(n_ranks)
        ranks = np.arange(1, n_ranks + 1)
        return (
            1.0 - (np.minimum(ranks, _POSITIVE_TRUST_RANKS) + 1) / 100.0,
            self.false_click / np.minimum(ranks, _NEGATIVE_TRUST_RANKS),
        )

    def affine_parameters(self, n_ranks: int) -> tuple[Float64Array, Float64Array]:
        """Return α and β by rank with P(click) = α_k a + β_k (Vardasbi et al. 2020), (n_ranks,).

        Raises:
            InvalidInput: The examination of a rank depends on the ranks above.
        """
        if self.is_sequential:
            raise InvalidInput.at(
                "/kind", f"{self.kind} has no examination probability that depends on the rank only"
            )
        examined, (upper, lower) = self.examinations(n_ranks), self.click_bounds(n_ranks)
        return examined * (upper - lower), examined * lower


def _by_label(values: Numbers, labels: FloatArray) -> Float64Array:
    grades = np.clip(np.nan_to_num(labels, nan=0.0), 0, len(values) - 1).astype(np.int64)
    probabilities: Float64Array = np.asarray(values, np.float64)[grades]
    return probabilities


_NAVIGATIONAL = UserModel(
    "dbn", attraction=(0.05, 0.3, 0.5, 0.7, 0.95), satisfaction=(0.2, 0.3, 0.5, 0.7, 0.9)
)
# Settings of ULTRA (ULTR-Community/ULTRA, example/ClickModel), PropEst (fzc621/PropEst,
# src/simulate_click.py, binary labels) and Hofmann et al. 2013 (navigational and informational users).
PRESETS: Mapping[str, UserModel] = MappingProxyType(
    {
        "ultra-pbm": UserModel("pbm"),
        "ultra-cascade": UserModel("cascade"),
        "ultra-trust": UserModel("trust"),
        "propest": UserModel(
            "pbm", attraction=(0.1, 1.0), examination=tuple(1.0 / rank for rank in range(1, 101))
        ),
        "navigational": _NAVIGATIONAL,
        "informational": replace(
            _NAVIGATIONAL, attraction=(0.4, 0.6, 0.7, 0.8, 0.9), satisfaction=(0.1, 0.2, 0.3, 0.4, 0.5)
        ),
    }
)
