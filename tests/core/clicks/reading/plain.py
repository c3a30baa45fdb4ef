"""A log as plain Python lists, for comparison with what readers write."""

from typing import Any

from core.clicks.log import ClickLog

Impression = tuple[str, int, bool]  # document, rank, click


def plain(log: ClickLog) -> list[tuple[str, list[Impression]]]:
    """Return the query and the impressions of each list."""
    found = []
    for index in range(log.n_lists):
        start, stop = (int(cut) for cut in log.list_boundaries[index : index + 2])
        shown = []
        for row in range(start, stop):
            pair = int(log.pairs[row])
            assert log.pair_queries[pair] == log.list_queries[index]
            document = log.document_ids[int(log.pair_documents[pair])]
            shown.append((document, int(log.ranks[row]), bool(log.clicks[row])))
        found.append((log.query_ids[int(log.list_queries[index])], shown))
    return found


def reference_lists(rows: list[dict[str, Any]]) -> list[tuple[str, list[Impression]]]:
    """Read rows of a table with a column of lists by the simplest possible code.

    A document counts once per list, at its lowest rank; a click on any of its rows counts.
    """
    lists: dict[str, tuple[str, dict[str, tuple[int, bool]]]] = {}
    for row in rows:
        _, shown = lists.setdefault(row["list"], (row["query"], {}))
        rank, click = shown.get(row["document"], (row["rank"], False))
        shown[row["document"]] = (min(rank, row["rank"]), click or row["click"] > 0)
    lowest = min(row["rank"] for row in rows)
    base = min(lowest, 1)
    first: dict[str, int] = {}
    for index, row in enumerate(rows):
        first.setdefault(row["document"], index)
    return [
        (
            query,
            [
                (document, rank - base + 1, click)
                for document, (rank, click) in sorted(
                    shown.items(), key=lambda item: (item[1][0], first[item[0]])
                )
            ],
        )
        for query, shown in lists.values()
    ]
