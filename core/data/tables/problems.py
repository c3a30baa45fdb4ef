"""Collecting what is wrong with a table, up to a bound."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from core.errors import DatasetError, DatasetProblem

MAX_PROBLEMS = 100
_TEXT_SHOWN = 40


@dataclass(frozen=True)
class _Found:
    row: int
    position: int
    column: str | None
    detail: str
    text: str | None


class Problems:
    """What is wrong in which row (from 0) and column; their order is the file's when they are raised."""

    def __init__(self) -> None:
        self._found: list[_Found] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def enough(self) -> bool:
        """Whether there are more than will be shown."""
        return len(self._found) > MAX_PROBLEMS

    def add(self, row: int, position: int, column: str | None, detail: str, text: str | None = None) -> None:
        """Add a problem; `position` is that of the column, for the order of problems in a row."""
        self._found.append(_Found(row, position, column, detail, text))

    def fail(self, file: str, lines: Callable[[Sequence[int]], list[int]]) -> NoReturn:
        """Raise the first of them, with the lines of their rows."""
        shown = sorted(self._found, key=lambda found: (found.row, found.position))[:MAX_PROBLEMS]
        raise DatasetError(
            *(
                DatasetProblem(found.detail, file, line, found.column, found.text)
                for found, line in zip(shown, lines([found.row for found in shown]), strict=True)
            ),
            more=self.enough,
        )


def shortened(text: str) -> str:
    """Cut a text to what a message can show."""
    return text if len(text) <= _TEXT_SHOWN else text[: _TEXT_SHOWN - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """Name the first columns of a file."""
    return ", ".join([shortened(name) for name in names[:10]] + ["…"] * (len(names) > 10))
