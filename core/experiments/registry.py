"""The registry of papers."""

from collections.abc import Mapping
from types import MappingProxyType

from core.errors import InvalidInput
from core.experiments import (
    lambda_ex_2023,
    lambdaloss_2018,
    lambdarank_2006,
    ranking_measures_2009,
    softmax_2019,
)
from core.experiments.paper import Paper

PAPERS: Mapping[str, Paper] = MappingProxyType(
    {
        module.PAPER.name: module.PAPER
        for module in (lambdarank_2006, ranking_measures_2009, lambdaloss_2018, softmax_2019, lambda_ex_2023)
    }
)


def papers() -> tuple[Paper, ...]:
    """Return all papers, sorted by year."""
    return tuple(PAPERS.values())


def paper(name: str) -> Paper:
    """Return a paper by name.

    Raises:
        InvalidInput: For an unknown name.
    """
    if name not in PAPERS:
        raise InvalidInput.at("/paper", f"unknown paper {name!r}; known are {', '.join(PAPERS)}")
    return PAPERS[name]
