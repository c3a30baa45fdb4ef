"""Rules that claims are judged by; `core.experiments.judgement` applies them."""

from dataclasses import dataclass

Place = tuple[str, str]  # row and column of a table
Pair = tuple[Place, Place]


@dataclass(frozen=True)
class Above:
    """The first of each pair is above the second.

    Held where each pair is, at p < 0.05 by the table's test. All pairs must pass, so that no correction for
    their number is needed (an intersection-union test, Berger 1982). Contradicted where one is below at
    p < 0.05 after Holm's correction.
    """

    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Narrower:
    """The relative gap of the first pair is narrower than that of the second, over the same queries."""

    narrow: Pair
    wide: Pair


@dataclass(frozen=True)
class Alike:
    """Both of each pair are equivalent: the 95% interval of the difference lies within the margin.

    All intervals must, so that no correction is needed. Contradicted where an interval lies beyond the
    margin that is widened for the number of pairs.

    Attributes:
        pairs: Compared pairs.
        margin: In the metric's unit: 0.01 is one point of NDCG in percent.
    """

    pairs: tuple[Pair, ...]
    margin: float


@dataclass(frozen=True)
class Larger:
    """The number of the first of each pair is larger; there are no values by query to test it with.

    Attributes:
        pairs: Compared pairs.
        margin: Share of the second by which both must differ to show anything.
    """

    pairs: tuple[Pair, ...]
    margin: float = 0.1


@dataclass(frozen=True)
class AtMost:
    """No number is above the bound; there are no values by query to test it with.

    Attributes:
        places: The numbers.
        bound: In natural units.
    """

    places: tuple[Place, ...]
    bound: float


@dataclass(frozen=True)
class Rises:
    """Each curve ends above its value at a tenth of its trees."""

    places: tuple[Place, ...]


@dataclass(frozen=True)
class Reaches:
    """The first curve reaches the best value of the second with a share of its trees."""

    pair: Pair
    share: float


Rule = Above | Narrower | Alike | Larger | AtMost | Rises | Reaches
