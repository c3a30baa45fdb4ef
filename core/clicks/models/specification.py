"""Kinds of click models, and options of their estimation."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.parameters import check, parameter


@dataclass(frozen=True)
class ModelKind:
    """A kind of click model.

    Attributes:
        iterates: Whether it is estimated by EM; other models are counted in one pass.
        has_satisfaction: Whether documents have a satisfaction in addition to an attractiveness.
        needs_movement: Whether documents must move between ranks for its parameters to be identified.
        prior: Pseudo-counts of clicks and skips of each parameter.
    """

    label: str
    source: str
    parameters: str
    iterates: bool = False
    has_satisfaction: bool = False
    needs_movement: bool = False
    prior: tuple[float, float] = (1.0, 1.0)


MODELS: Mapping[str, ModelKind] = MappingProxyType(
    {
        "ctr": ModelKind("click-through rate", "Craswell 2008, baseline", "clicks of a pair by impressions"),
        "coec": ModelKind(
            "clicks over expected clicks",
            "Zhang and Jones 2007",
            "clicks of a pair by the clicks that its ranks have on average",
            prior=(0.0, 0.0),
        ),
        "cascade": ModelKind(
            "cascade", "Craswell 2008", "attractiveness; users examine from the top to the first click"
        ),
        "dcm": ModelKind(
            "dependent click model", "Guo 2009", "attractiveness; continuation after a click by rank"
        ),
        "pbm": ModelKind(
            "position-based model",
            "Craswell 2008",
            "attractiveness; examination by rank",
            iterates=True,
            needs_movement=True,
        ),
        "ubm": ModelKind(
            "user browsing model",
            "Dupret and Piwowarski 2008",
            "attractiveness; examination by rank and rank of the last click",
            iterates=True,
            needs_movement=True,
        ),
        "sdbn": ModelKind(
            "simplified dynamic Bayesian network",
            "Chapelle and Zhang 2009, section 5",
            "attractiveness and satisfaction, counted up to the last click",
            has_satisfaction=True,
        ),
        "dbn": ModelKind(
            "dynamic Bayesian network",
            "Chapelle and Zhang 2009",
            "attractiveness, satisfaction, and one persistence",
            iterates=True,
            has_satisfaction=True,
        ),
    }
)


@dataclass(frozen=True)
class ClickModelSpec:
    """The options of a click model's estimation.

    The default iterations and pseudo-counts are PyClick's (Chuklin, Markov and de Rijke 2015), except for
    `coec`, which PyClick lacks.
    """

    model: str = parameter("pbm", "The click model.", choices=tuple(MODELS))
    iterations: int = parameter(
        50, "Number of EM iterations; without effect on models in closed form.", minimum=1, maximum=10_000
    )
    max_rank: int = parameter(
        50,
        "Greatest rank of a list to use; impressions at greater ranks are left out.",
        minimum=1,
        maximum=200,
    )
    prior_clicks: float | None = parameter(
        None, "Pseudo-count of clicks for each parameter; when null, 1, or 0 for `coec`.", minimum=0
    )
    prior_skips: float | None = parameter(
        None, "Pseudo-count of skips for each parameter; when null, 1, or 0 for `coec`.", minimum=0
    )
    as_pyclick: bool = parameter(
        False,
        "For `dbn`: approximate posteriors as PyClick does. Lists without clicks count as examined to the"
        " end, and documents below the last click with their marginal examination probability. Otherwise"
        " posteriors are exact.",
    )
    resamples: int = parameter(
        100,
        "Number of bootstrap resamples of users, or of lists, for the intervals.",
        minimum=0,
        maximum=10_000,
    )
    seed: int = parameter(0, "Seed of the bootstrap resamples.", minimum=0, maximum=2**31 - 1)

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            InvalidInput: An option is out of bounds.
        """
        check(self)

    @property
    def kind(self) -> ModelKind:
        """Return the entry of `MODELS` for the model's name."""
        return MODELS[self.model]

    @property
    def prior(self) -> tuple[float, float]:
        """Return the pseudo-counts of clicks and skips."""
        clicks, skips = self.kind.prior
        return (
            clicks if self.prior_clicks is None else self.prior_clicks,
            skips if self.prior_skips is None else self.prior_skips,
        )
