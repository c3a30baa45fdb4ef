"""Reader of sessions: JSON lines with one ranked list and its clicks each."""

import math
from typing import Any

from core.clicks.reading.builder import LogBuilder
from core.clicks.reading.codes import IMPRESSION_ACTIONS, ONE_QUERY
from core.clicks.reading.json_lines import (
    InvalidLine,
    Json,
    json_text,
    list_in,
    non_blank_text_of,
    required_text,
    text_of,
    texts_in,
    whole_number,
)
from core.clicks.reading.spool import IMPRESSION, NO_TEAM, TEAM_BOUND
from core.clicks.reading.times import time_of

_CLICK = "click"


class SessionReader:
    """Reads lines such as `{"query": "shoes", "documents": ["a", "b"], "clicks": ["b"]}`.

    A document is an id, or an object with `id`, and optionally `rank`, `click`, `actions`, `propensity` and
    `team`. `time`, `user` and `version` describe the list.
    """

    def __init__(self, builder: LogBuilder) -> None:
        self._builder = builder

    def read(self, value: Json) -> None:
        """Read one list.

        Raises:
            InvalidLine: The object is invalid.
        """
        documents = list_in(value, "documents")
        if value.get("documents") is None:
            raise InvalidLine("expected documents, a list of ids or objects, but found none")
        builder = self._builder
        number = builder.new_list()
        query = text_of(value, "query")
        if query is None and value.get("query") is not None:
            raise InvalidLine(
                f"expected the text of a query in 'query', but found {json_text(value['query'])}"
            )
        builder.set_list_details(
            number,
            query=ONE_QUERY if query is None else query,
            time=time_of(value.get("time")),
            user=non_blank_text_of(value, "user"),
            version=non_blank_text_of(value, "version"),
        )
        for position, document in enumerate(documents):
            self._read_document(number, position, document)
        builder.action_counts[IMPRESSION_ACTIONS[0]] += len(documents)
        for clicked in texts_in(value, "clicks", "ids of documents"):
            self._add_action(number, clicked, _CLICK)

    def _read_document(self, number: int, position: int, document: Any) -> None:
        builder = self._builder
        if isinstance(document, str | int | float) and not isinstance(document, bool):
            document = {"id": document}
        if not isinstance(document, dict):
            raise InvalidLine(f"expected the id of a document or an object, but found {json_text(document)}")
        name = required_text(document, "id", "the id of a document")
        rank = whole_number(document, "rank")
        team = whole_number(document, "team", TEAM_BOUND)
        propensity = _propensity(document)
        builder.has_propensities |= not math.isnan(propensity)
        builder.has_teams |= team is not None
        rank = builder.first_rank + position if rank is None else rank
        builder.add_row(number, name, rank, IMPRESSION, propensity, NO_TEAM if team is None else team)
        actions = texts_in(document, "actions", "names of actions")
        if _is_clicked(document) and _CLICK not in actions:
            actions.append(_CLICK)
        for action in actions:
            self._add_action(number, name, action)

    def _add_action(self, number: int, document: str, action: str) -> None:
        builder = self._builder
        builder.action_counts[action] += 1
        action_code = builder.action_code(action)
        if action_code > IMPRESSION:
            builder.add_row(number, document, 0, action_code)


def _is_clicked(document: Json) -> bool:
    click = document.get("click")
    if click is not None and not isinstance(click, int | float):
        raise InvalidLine(f"expected true, false or a number in 'click', but found {json_text(click)}")
    return bool(click)


def _propensity(document: Json) -> float:
    propensity = document.get("propensity")
    if propensity is None:
        return math.nan
    is_number = isinstance(propensity, int | float) and not isinstance(propensity, bool)
    if not is_number or not 0 < propensity <= 1:
        raise InvalidLine(f"expected a propensity above 0 and up to 1, but found {json_text(propensity)}")
    return float(propensity)
