"""Studies: a search space, the trials that sample it, pruning, and the conclusion."""

from core.studies.budget import Budget, Tally, wanted
from core.studies.search_space import Dimension, SearchSpace, search_space
from core.studies.study import StudySpec

__all__ = [
    "Budget",
    "Dimension",
    "SearchSpace",
    "StudySpec",
    "Tally",
    "search_space",
    "wanted",
]
