"""Reader of Metarank events: rankings, and interactions with their items.

Source: docs.metarank.ai/reference/event-schema.
"""

from core.clicks.reading.builder import LogBuilder
from core.clicks.reading.json_lines import (
    InvalidLine,
    Json,
    list_in,
    non_blank_text_of,
    required_text,
    text_of,
)
from core.clicks.reading.names import IMPRESSION_ACTIONS, ONE_QUERY
from core.clicks.reading.spool import IMPRESSION, NO_RANK
from core.clicks.reading.times import time_of

_METADATA = ("item", "user")  # events that describe items and users


class MetarankReader:
    """Reads Metarank events, one per line.

    Ranks are the order of the items. The query is a field of the ranking, or `all` without it.

    Args:
        builder: Builder of the log.
        query_field: Name of the field with the query.
    """

    def __init__(self, builder: LogBuilder, query_field: str = "query") -> None:
        self._builder = builder
        self._query_field = query_field

    def read(self, value: Json) -> None:
        """Read a ranking or an interaction; skip the metadata of items and users.

        Raises:
            InvalidLine: The object is invalid.
        """
        event = text_of(value, "event")
        if event == "ranking":
            self._read_ranking(value)
        elif event == "interaction":
            self._read_interaction(value)
        elif event not in _METADATA:
            raise InvalidLine(f"expected the event ranking, interaction, item or user, but found {event!r}")

    def _read_ranking(self, value: Json) -> None:
        builder = self._builder
        number = builder.named_list(required_text(value, "id", "the id of a ranking"))
        builder.set_list_details(
            number,
            query=self._query(value),
            time=time_of(value.get("timestamp")),
            user=non_blank_text_of(value, "user", "session"),
        )
        items = list_in(value, "items")
        for rank, item in enumerate(items, start=builder.first_rank):
            if not isinstance(item, dict):
                raise InvalidLine('expected items such as {"id": "p1"}')
            builder.add_row(number, required_text(item, "id", "the id of an item"), rank)
        builder.action_counts[IMPRESSION_ACTIONS[0]] += len(items)

    def _read_interaction(self, value: Json) -> None:
        builder, action_name = self._builder, required_text(value, "type", "the type of an interaction")
        builder.action_counts[action_name] += 1
        ranking = text_of(value, "ranking")
        action = builder.action_code(action_name)  # actions with a weight are numbered from 1
        if action > IMPRESSION and ranking:
            item = required_text(value, "item", "the id of an item")
            builder.add_row(builder.named_list(ranking), item, NO_RANK, action)
        elif action > IMPRESSION:
            builder.without_list += 1

    def _query(self, value: Json) -> str:
        for field in list_in(value, "fields"):
            if isinstance(field, dict) and field.get("name") == self._query_field:
                return text_of(field, "value") or ""
        return ONE_QUERY
