"""The exact distribution of a random list, by enumeration of all sequences of draws."""

from collections.abc import Callable, Sequence

from core.interleaving.lists import Draw, InterleavedList


def exact_distribution(build: Callable[[Draw], InterleavedList]) -> list[tuple[InterleavedList, float]]:
    """Return the list of each possible sequence of draws, with the probability of the sequence."""
    found: list[tuple[InterleavedList, float]] = []
    open_prefixes: list[list[int]] = [[]]
    while open_prefixes:
        replayed = _Replay(open_prefixes.pop())
        found.append((build(replayed), replayed.probability))
        open_prefixes += replayed.others
    return found


class _Replay:
    """Draws that repeat a prefix, then take the first choice and record the others."""

    def __init__(self, prefix: list[int]) -> None:
        self._prefix = prefix
        self._taken: list[int] = []
        self.probability = 1.0
        self.others: list[list[int]] = []

    def __call__(self, weights: Sequence[float]) -> int:
        possible = [index for index, weight in enumerate(weights) if weight > 0.0]
        if len(self._taken) < len(self._prefix):
            index = self._prefix[len(self._taken)]
        else:
            index = possible[0]
            self.others += [[*self._taken, other] for other in possible[1:]]
        self._taken.append(index)
        self.probability *= weights[index] / sum(weights)
        return index


def of_documents(build: Callable[[Draw], InterleavedList]) -> dict[tuple[int, ...], float]:
    """Return the probability of each list of documents."""
    found: dict[tuple[int, ...], float] = {}
    for shown, probability in exact_distribution(build):
        documents = tuple(shown.documents)
        found[documents] = found.get(documents, 0.0) + probability
    return found
