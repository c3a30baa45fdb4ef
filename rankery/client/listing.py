"""Some of what a list of the service holds."""

from typing import TypeVar

Item = TypeVar("Item")


class Listing(list[Item]):
    """A list that is shown as a table."""
