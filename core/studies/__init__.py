"""Studies (hyperparameter searches): search space, sampling of trials, pruning and conclusion."""

from core.studies.budget import Budget, Tally, trials_to_queue
from core.studies.search_space import SearchSpace, search_space
from core.studies.study import StudySpec
