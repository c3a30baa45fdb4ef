"""The default of arguments for which None is a value."""

from enum import Enum
from typing import Any, Final


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


def chosen(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are not `UNSET`."""
    return {name: value for name, value in values.items() if value is not UNSET}
