"""Parser of the lines `name=numbers` of a model text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.errors import ModelError
from core.types import Float64Array, Int64Array

_WHOLE = r"-?\d{1,10}"
_REAL = r"-?\d+(?:\.\d+)?(?:e[+-]\d{1,3})?"
_INFINITE = f"-?inf|{_REAL}"  # a split of missing values from all others has an infinite threshold
_ANY = f"-?nan|{_INFINITE}"


@dataclass(frozen=True)
class Fields:
    """The lines of a tree or of the head of a model text.

    Attributes:
        lines: Text after `=` by name.
        location: Location in the file, for error messages.
    """

    lines: Mapping[str, str]
    location: str

    @classmethod
    def of(cls, block: str, location: str) -> "Fields":
        """Parse lines.

        Raises:
            ModelError: A name occurs twice.
        """
        lines: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition("=")
            if name in lines and name:
                raise ModelError(f"{location} of the model has {name[:40]!r} twice")
            lines[name] = value
        return cls(lines, location)

    def whole(self, name: str, count: int) -> Int64Array:
        """Read a line of integers.

        Raises:
            ModelError: The line does not have `count` numbers; the other methods raise the same error.
        """
        return np.array(self._tokens(name, _WHOLE, count), np.int64)

    def real(self, name: str, count: int) -> Float64Array:
        """Read a line of finite numbers."""
        values = np.array(self._tokens(name, _REAL, count), np.float64)
        if not np.isfinite(values).all():
            raise ModelError(f"{self.location} of the model has an infinite number in its {name}")
        return values

    def thresholds(self, name: str, count: int) -> Float64Array:
        """Read a line of numbers that may be infinite."""
        return np.array(self._tokens(name, _INFINITE, count), np.float64)

    def gains(self, name: str, count: int) -> Float64Array:
        """Read a line of numbers that do not influence scores; zeros where the line is missing."""
        return np.array(self._tokens(name, _ANY, count) if name in self.lines else [0] * count, np.float64)

    def counts(self, name: str, count: int) -> Int64Array:
        """Read a line of document counts; zeros where the line is missing.

        Raises:
            ModelError: A count is negative.
        """
        counts = self.whole(name, count) if name in self.lines else np.zeros(count, np.int64)
        if (counts < 0).any():
            raise ModelError(f"{self.location} of the model has a negative number of documents in its {name}")
        return counts

    def _tokens(self, name: str, number: str, count: int) -> list[str]:
        # In lines of linear trees, the features of two leaves are separated by an extra blank.
        text = self.lines.get(name, "").strip(" ")
        well_formed = re.fullmatch(f"(?:{number})(?: +(?:{number}))*", text) is not None
        tokens = text.split() if well_formed else []
        if len(tokens) != count:
            raise ModelError(f"{self.location} of the model must have {count} numbers in its {name}")
        return tokens
