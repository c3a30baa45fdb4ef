"""Interleaving: merge the rankings of two or more rankers into one list, and compare rankers by clicks."""

from core.interleaving.drafts import METHODS, Method, check_rankers, interleave
from core.interleaving.lists import InterleavedList, seeded_draw
from core.interleaving.sequential import SequentialRule, sample_size, sequential_test, winning_share

# Verdicts are imported from their module: they load numba, and the store imports this package.
