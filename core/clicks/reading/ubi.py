"""Reader of User Behavior Insights (UBI): queries and events, as OpenSearch indexes them.

Source: user-behavior-insights 1.3, queries-mapping.json and events-mapping.json.
"""

from core.clicks.reading.builder import LogBuilder
from core.clicks.reading.json_lines import (
    InvalidLine,
    Json,
    document_of,
    non_blank_text_of,
    object_in,
    required_text,
    text_of,
    texts_in,
    whole_number,
)
from core.clicks.reading.spool import HIT, IMPRESSION, NO_RANK
from core.clicks.reading.times import time_of

_BULK_ACTIONS = ("index", "create")


class UbiReader:
    """Reads the lines of `ubi_queries` and `ubi_events`, also as bodies of bulk requests or search hits.

    A list has the impressions of one `query_id`: the impression events, or without any the
    `query_response_hit_ids`. The query is the `user_query` of the query or of any of its events.

    Args:
        builder: Builder of the log.
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
