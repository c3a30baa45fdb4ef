"""Report of reading a click log: counts for its statistics and findings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_EXAMPLES = 10


@dataclass
class Examples:
    """Number of objects, with some of their names.

    Attributes:
        names: Different names of the first objects, at most ten.
    """

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str, count: int = 1) -> None:
        """Add to the count, and keep the name as an example if it is new and fewer than ten are kept."""
        self.count += count
        if len(self.names) < MAX_EXAMPLES and name not in self.names:
            self.names.append(name)


@dataclass
class ReadingReport:
    """Counts of the rows that were read, and of those that were ignored.

    Attributes:
        rows: Number of impressions, search hits and weighted actions; a clicked row of a table counts twice.
        rank_base: Rank of the first position in the files, 0 or 1.
        rank_base_detected: Whether `rank_base` was detected.
        lists_from_0: Lists whose lowest valid rank is 0 in the files; lists of search hits do not count.
        lists_from_1: Lists whose lowest valid rank is 1 in the files; lists of search hits do not count.
        events_at_rank_0: Events at rank 0 in the files; only impressions if clicks have no rank.
        events_at_rank_1: Events at rank 1 in the files; only impressions if clicks have no rank.
        rows_by_action: Number of rows by action.
        orphaned_actions: Weighted actions on a document that the list did not show.
        moved_actions: Weighted actions with another rank than the impression of their document.
        repeated_impressions: Impressions of a document that its list had shown already.
        unranked: Impressions without a rank, or with a rank below the base or too large.
        joined_events: Those of `events_without_query` whose list has its query from another row.
        shared_ranks: Impressions at the same rank as another document of the list.
        lists_without_time: Lists without a time where others have one; all times are then left out.
        has_propensities: Whether the files have propensities.
        has_teams: Whether the files have teams of an interleaving.
    """

    format: str
    rows: int = 0
    rank_base: int = 1
    rank_base_detected: bool = True
    lists_from_0: int = 0
    lists_from_1: int = 0
    events_at_rank_0: int = 0
    events_at_rank_1: int = 0
    rows_by_action: Mapping[str, int] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    orphaned_actions: Examples = field(default_factory=Examples)
    moved_actions: Examples = field(default_factory=Examples)
    weighted_actions: int = 0
    repeated_impressions: Examples = field(default_factory=Examples)
    unranked: Examples = field(default_factory=Examples)
    rows_without_query: Examples = field(default_factory=Examples)
    events_without_query: int = 0
    joined_events: int = 0
    without_document: int = 0
    without_list: int = 0
    shared_ranks: Examples = field(default_factory=Examples)
    lists_without_time: int = 0
    has_propensities: bool = False
    has_teams: bool = False
