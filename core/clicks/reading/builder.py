"""Builder of a click log: codes of names, columns of lists, and rows on disk."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.clicks.reading.codes import IMPRESSION_ACTIONS, Codes, IdCodes
from core.clicks.reading.spool import IMPRESSION, NO_TEAM, Spool, rows_of
from core.types import Int32Array

UNKNOWN = -1
UNWEIGHTED = -2  # code of actions without a weight, whose rows are ignored
NO_TIME = np.iinfo(np.int64).max
_BUFFERED_ROWS = 2**16
_INITIAL_CAPACITY = 2**12


class ListColumn:
    """A column of lists that grows with their number.

    Args:
        absent: Value that marks lists without a value.
    """

    def __init__(self, dtype: type[Any], absent: int) -> None:
        self._absent = absent
        self._values: npt.NDArray[Any] = np.full(_INITIAL_CAPACITY, absent, dtype)

    def reserve(self, n_lists: int) -> npt.NDArray[Any]:
        """Return the writable values, enlarged to at least this number of lists."""
        if n_lists > len(self._values):
            more = np.full(max(n_lists, 2 * len(self._values)), self._absent, self._values.dtype)
            more[: len(self._values)] = self._values
            self._values = more
        return self._values

    def set_where_absent(self, lists: Int32Array, values: Any, n_lists: int) -> None:
        """Set the values of lists without a value; of several values for a list, the first counts."""
        column = self.reserve(n_lists)
        new = np.flatnonzero((column[lists] == self._absent) & (values != self._absent))[::-1]
        column[lists[new]] = values[new]

    def set_least(self, lists: Int32Array, values: Any, n_lists: int) -> None:
        """Set each list's value to the minimum of its current value and the given values."""
        np.minimum.at(self.reserve(n_lists), lists, values)

    def set_if_absent(self, number: int, value: int) -> None:
        """Set the value of a list if it has none yet."""
        column = self.reserve(number + 1)
        if column[number] == self._absent:
            column[number] = value


class LogBuilder:
    """Collects a click log while its files are read.

    Args:
        folder: An empty folder for temporary files.
        actions: Weights of actions by name.
        first_rank: Rank of the first document of lists that have no ranks.

    Attributes:
        keys: Codes of the named lists; `forget_names` frees their names.
        users: Codes of the users; `forget_names` frees their names.
        action_counts: Number of rows by the name of the action.
        action_codes: Codes of the weighted actions by name, from 1.
        first_rank: Rank of the first document of lists that have no ranks.
        rank_counts: Number of events by rank, for formats whose events have ranks.
        has_propensities: Whether the files have propensities.
        has_teams: Whether the files have teams of an interleaving.
    """

    def __init__(self, folder: Path, actions: Mapping[str, float], first_rank: int = 1) -> None:
        self.spool = Spool(folder)
        self.keys, self.users = Codes(), Codes()
        self.queries, self.documents, self.versions = IdCodes(), IdCodes(), Codes()
        self.list_queries = ListColumn(np.int32, UNKNOWN)
        self.list_times = ListColumn(np.int64, NO_TIME)
        self.list_users = ListColumn(np.int32, UNKNOWN)
        self.list_versions = ListColumn(np.int32, UNKNOWN)
        self.list_lengths = ListColumn(np.int64, 0)
        self.action_counts: Counter[str] = Counter()
        self.action_codes = {name: code for code, name in enumerate(actions, start=1)}
        self.n_lists = 0
        self.first_rank = first_rank
        self.rank_counts: Counter[int] = Counter()
        self.without_document = self.without_list = self.without_query = 0
        self._events_without_query = ListColumn(np.int32, 0)
        self.has_propensities = self.has_teams = False
        self._buffer: list[tuple[int, int, int, int, float, int]] = []

    def action_code(self, name: str) -> int:
        """Return the code of a weighted action, `IMPRESSION` for impressions, else `UNWEIGHTED`."""
        if name in self.action_codes:
            return self.action_codes[name]
        return IMPRESSION if name in IMPRESSION_ACTIONS else UNWEIGHTED

    def name_of(self, query: int, document: int) -> str:
        """Return the query and the document with these codes, as text for a message."""
        name = "no query" if query == UNKNOWN else self.queries.text(query)
        return f"{name}: {self.documents.text(document)}"

    def new_list(self) -> int:
        """Create a list without a name; return its number."""
        self.n_lists += 1
        return self.n_lists - 1

    def named_list(self, key: str) -> int:
        """Return the index of the list with a name; create the list if it is new."""
        number = self.keys.of(key)
        self.n_lists = max(self.n_lists, number + 1)
        return number

    def set_list_details(
        self,
        number: int,
        *,
        query: str | None = None,
        time: int | None = None,
        user: str | None = None,
        version: str | None = None,
    ) -> None:
        """Set the query, user and version of a list if it has none yet, and its earliest time."""
        if query is not None:
            self.list_queries.set_if_absent(number, self.queries.of(query))
        if time is not None:
            times = self.list_times.reserve(number + 1)
            times[number] = min(times[number], time)
        if user is not None:
            self.list_users.set_if_absent(number, self.users.of(user))
        if version is not None:
            self.list_versions.set_if_absent(number, self.versions.of(version))

    def forget_names(self) -> None:
        """Free the names of lists and users after all files are read."""
        self.keys, self.users = Codes(), Codes()

    def count_without_query(self, number: int) -> None:
        """Count an event without a query; another row of its list may contain the query."""
        self._events_without_query.reserve(number + 1)[number] += 1

    def joined_events(self) -> int:
        """Return the number of events without a query whose list has a query from another row."""
        has_query = self.list_queries.reserve(self.n_lists)[: self.n_lists] != UNKNOWN
        return int(self._events_without_query.reserve(self.n_lists)[: self.n_lists][has_query].sum())

    def add_row(
        self,
        number: int,
        document: str,
        rank: int,
        action: int = IMPRESSION,
        propensity: float = np.nan,
        team: int = NO_TEAM,
    ) -> None:
        """Add one row of a list."""
        self._buffer.append((number, self.documents.of(document), rank, action, propensity, team))
        if len(self._buffer) == _BUFFERED_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows."""
        if self._buffer:
            lists, documents, ranks, actions, propensities, teams = zip(*self._buffer, strict=True)
            self._buffer.clear()
            self.spool.add(rows_of(np.array(lists), documents, ranks, actions, propensities, teams))
