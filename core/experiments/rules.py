"""Rules of claims, which `core.experiments.judgement` applies."""

from dataclasses import dataclass

CellKey = tuple[str, str]  # row and column of a table
Pair = tuple[CellKey, CellKey]


@dataclass(frozen=True)
class Above:
    """The first number of each pair is above the second.

    The verdict is `held` if each first number is above at p < 0.05 by the table's test. As all pairs must
    pass, no correction for the number of pairs is needed (an intersection-union test, Berger 1982). The
    verdict is `contradicted` if a first number is below at p < 0.05 after Holm's correction.
    """

    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Narrower:
    """The relative gap of the first pair is narrower than that of the second, over the same queries."""

    narrow: Pair
    wide: Pair


@dataclass(frozen=True)
class Alike:
    """The numbers of each pair are equivalent: the 95% interval of the difference is within the margin.

    As all intervals must be within the margin, no correction is needed. The claim is contradicted if an
    interval, widened for the number of pairs (Bonferroni), is entirely beyond the margin.

    Attributes:
        margin: Margin in the metric's unit: 0.01 is one point of NDCG in percent.
    """

    pairs: tuple[Pair, ...]
    margin: float


@dataclass(frozen=True)
class Larger:
    """The first number of each pair is larger; not tested, as there are no per-query values.

    Attributes:
        margin: Smallest conclusive difference, as a share of the second number.
    """

    pairs: tuple[Pair, ...]
    margin: float = 0.1


@dataclass(frozen=True)
class AtMost:
    """No number is above the bound; not tested, as there are no per-query values.

    Attributes:
        bound: Bound in natural units.
    """

    cell_keys: tuple[CellKey, ...]
    bound: float


@dataclass(frozen=True)
class Rises:
    """Each curve ends above its value at a tenth of its trees."""

    cell_keys: tuple[CellKey, ...]


@dataclass(frozen=True)
class Reaches:
    """The first curve reaches the best value of the second with at most a share of the second's trees."""

    pair: Pair
    share: float


Rule = Above | Narrower | Alike | Larger | AtMost | Rises | Reaches
