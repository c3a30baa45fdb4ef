"""Readers of events of Metarank, and of User Behavior Insights (UBI) as OpenSearch indexes them.

Sources: docs.metarank.ai/reference/event-schema; user-behavior-insights 1.3, queries-mapping.json and
events-mapping.json.
"""

from core.clicks.reading.builder import LogBuilder
from core.clicks.reading.codes import IMPRESSION_ACTIONS, ONE_QUERY
from core.clicks.reading.json_lines import (
    InvalidLine,
    Json,
    document_of,
    list_in,
    non_blank_text_of,
    object_in,
    required_text,
    text_of,
    texts_in,
    whole_number,
)
from core.clicks.reading.spool import HIT, IMPRESSION, NO_RANK
from core.clicks.reading.times import time_of

_METADATA = ("item", "user")  # events that describe items and users


class MetarankReader:
    """Reads Metarank events, one per line.

    Ranks are the order of the items. The query is a field of the ranking, or `all` without it.
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


_BULK_ACTIONS = ("index", "create")


class UbiReader:
    """Reads the lines of `ubi_queries` and `ubi_events`, also as bodies of bulk requests or search hits.

    A list has the impressions of one `query_id`: its impression events, or its `query_response_hit_ids` if it
    has no such events. The query is the `user_query` of the query or of any of its events.
    """

    def __init__(self, builder: LogBuilder) -> None:
        self._builder = builder

    def read(self, value: Json) -> None:
        """Read a query, an event or the action line of a bulk request.

        Raises:
            InvalidLine: The object is invalid.
        """
        value = document_of(value)
        if "action_name" in value:
            self._read_event(value)
        elif "query_id" in value:
            self._read_query(value)
        elif not any(isinstance(value.get(name), dict) for name in _BULK_ACTIONS):
            raise InvalidLine(
                f"expected action_name or query_id, but found {', '.join(list(value)[:5]) or 'none'}"
            )

    def _read_query(self, value: Json) -> None:
        builder = self._builder
        number = self._list(value)
        builder.set_list_details(
            number,
            query=text_of(value, "user_query"),
            time=time_of(value.get("timestamp")),
            user=non_blank_text_of(value, "client_id", "user_id"),
        )
        for position, hit in enumerate(texts_in(value, "query_response_hit_ids", "ids of documents")):
            builder.add_row(number, hit, position, HIT)

    def _read_event(self, value: Json) -> None:
        builder, action = self._builder, required_text(value, "action_name", "the name of an action")
        builder.action_counts[action] += 1
        attributes = object_in(value, "event_attributes")
        rank = whole_number(object_in(attributes, "position"), "ordinal")
        if rank is not None:
            builder.rank_counts[rank] += 1
        action_code = builder.action_code(action)
        query = text_of(value, "user_query")
        builder.without_query += query is None
        if not text_of(value, "query_id"):
            builder.without_list += action_code >= IMPRESSION
            return
        number = self._list(value)
        if query is None:
            builder.count_without_query(number)
        builder.set_list_details(
            number,
            query=query,
            time=time_of(value.get("timestamp")),
            user=non_blank_text_of(value, "client_id", "user_id"),
        )
        if action_code < IMPRESSION:
            return
        document = text_of(object_in(attributes, "object"), "object_id")
        if not document:
            builder.without_document += 1
            return
        builder.add_row(number, document, NO_RANK if rank is None else rank, action_code)

    def _list(self, value: Json) -> int:
        return self._builder.named_list(required_text(value, "query_id", "the id of a query"))
