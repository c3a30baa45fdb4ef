"""Candidate documents as JSON, read by Python's own parser."""

import json
import random
import re
from json import JSONDecodeError
from typing import Any

import numpy as np
from pydantic import ValidationError

from app.http.bodies import parse_json
from app.scoring.json_candidates import JsonCandidates
from app.scoring.json_reader import fast_candidates
from app.scoring.limits import check_candidates, max_containers
from app.scoring.schemas import MAX_TOP_K, RankRequest
from app.scoring.served_models import ServedModel
from app.scoring.slow_json import slow_candidates
from app.served.routes import MAX_ID_LENGTH
from app.settings import ApiSettings
from core.errors import InvalidInput
from core.types import Float64Array
from tests.app.scoring.differential.mutations import mutated
from tests.app.scoring.differential.requests import (
    BLOCK,
    BLOCK_FEATURES,
    NAMES,
    Answer,
    ExpectedScores,
    Refused,
    Sent,
    cell,
    require,
)

MAX_LEVELS = 200  # of arrays and objects around a value
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s\[\]{}":,]+')


class RankRequests:
    """Queries with documents, features by name or in the model's order."""

    name = "JSON"

    def make(self, seed: int) -> Sent:
        """Make the mutated JSON request of a seed."""
        generator = random.Random(seed)
        queries = [
            {
                "id": f"q{number}",
                "documents": [_document(generator, d) for d in range(generator.randrange(5))],
            }
            for number in range(generator.randrange(1, 4))
        ]
        body: dict[str, Any] = {"queries": queries}
        if generator.random() < 0.3:
            body["top_k"] = generator.choice((1, 2, None))
        if generator.random() < 0.1:
            body["explain"] = generator.random() < 0.5
        text = json.dumps(
            body,
            ensure_ascii=generator.random() < 0.3,
            separators=generator.choice(((",", ":"), (", ", ": "), (" ,", "\t:\n"))),
        )
        return Sent("/v1/models/web/rank", mutated(text, generator), {"content-type": "application/json"})

    def read(self, sent: Sent, settings: ApiSettings) -> ExpectedScores:
        """Read a JSON body as the reference does."""
        body = parsed(sent.content, max_containers(settings))
        require(type(body) is dict and {"queries"} <= body.keys() <= {"queries", "top_k", "explain"})
        queries, top_k = body["queries"], body.get("top_k")
        require(top_k is None or (type(top_k) is int and 1 <= top_k <= MAX_TOP_K))
        require(type(body.get("explain", False)) is bool)
        require(type(queries) is list and 0 < len(queries) <= settings.max_rank_queries)
        rows: list[list[float]] = []
        ids: list[tuple[str, list[str]]] = []
        for query in queries:
            require(type(query) is dict and query.keys() == {"id", "documents"} and _is_id(query["id"]))
            require(type(query["documents"]) is list)
            rows += map(_row, query["documents"])
            ids.append((query["id"], [document["id"] for document in query["documents"]]))
            require(len(set(ids[-1][1])) == len(ids[-1][1]))
        require(len(rows) <= settings.max_rank_documents)
        features = np.array(rows).reshape(-1, len(NAMES))
        return ExpectedScores(features, lambda scores: _expected(ids, scores, top_k))

    def is_stricter(self, answer: Answer) -> bool:
        """Return False: the reference has all rules of the service."""
        return False

    def answered_scores(self, answer: Answer) -> Any:
        """Return the id of each query with the ids, ranks and scores of its documents."""
        return [
            (
                query["id"],
                [(document["id"], document["rank"], document["score"]) for document in query["ranking"]],
            )
            for query in json.loads(answer.content)["queries"]
        ]

    def compare_readers(self, sent: Sent, model: ServedModel, settings: ApiSettings) -> tuple[bool, str]:
        """Compare `fast_candidates` with the general reader."""
        try:
            fast = fast_candidates(sent.content, model, settings)
        except InvalidInput:
            return False, "" if _general(
                sent.content, settings, model
            ) is None else "only the fast path refuses"
        if fast is None:
            return False, ""
        slow = _general(sent.content, settings, model)
        if slow is None:
            return True, "only the fast path accepts it"
        same = np.array_equal(fast.features, slow.features, equal_nan=True)
        members = ("query_ids", "document_ids", "top_k", "explain")
        same &= all(getattr(fast, name) == getattr(slow, name) for name in members)
        return True, "" if same else "the fast and the slow path read different documents"


def parsed(content: bytes, container_limit: int) -> Any:
    """Parse JSON with Python's own parser, without its extensions of RFC 8259.

    Raises:
        Refused: The content is not JSON, too deep, or has too many containers.
    """
    require(content.count(b"[") + content.count(b"{") <= container_limit)
    try:
        text = content.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        raise Refused from error
    _check_texts(value)
    level = 0
    for token in _TOKENS.finditer(text):
        level -= token[0] in "]}"
        require(level <= MAX_LEVELS)
        level += token[0] in "[{"
    return value


def number(value: Any) -> float:
    """Return a number, NaN for null.

    Raises:
        Refused: The value is not a number, or infinite in float64 or float32.
    """
    if value is None:
        return float("nan")
    require(type(value) in (int, float))
    try:
        number_value = float(value)
    except OverflowError as error:
        raise Refused from error
    with np.errstate(over="ignore"):
        require(np.isfinite(np.float32(number_value)))
    return number_value


def _refuse(constant: str) -> Any:
    raise Refused(constant)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with the last of duplicate members, after all of them were checked."""
    for name, value in pairs:
        _check_texts(name)
        _check_texts(value)
    return dict(pairs)


def _check_texts(value: Any) -> None:
    """Refuse unpaired surrogates, which UTF-8 cannot encode; objects were checked before."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Refused from error
    elif isinstance(value, list):
        for item in value:
            _check_texts(item)


def _document(generator: random.Random, number: int) -> dict[str, Any]:
    values = [generator.choice((None, 0, 1, cell(generator), cell(generator))) for _ in NAMES]
    if generator.random() < 0.5:
        return {"id": f"d{number}", "features": values}
    named: list[tuple[str, Any]]
    named = [(name, value) for name, value in zip(NAMES, values, strict=True) if generator.random() < 0.8]
    if generator.random() < 0.4:
        named = [(name, value) for name, value in named if name not in BLOCK_FEATURES]
        named.append((BLOCK, values[-len(BLOCK_FEATURES) :]))
    generator.shuffle(named)
    return {"features": dict(named), "id": f"d{number}"}


def _is_id(value: Any) -> bool:
    return type(value) is str and len(value) <= MAX_ID_LENGTH


def _row(document: Any) -> list[float]:
    require(type(document) is dict and document.keys() == {"id", "features"} and _is_id(document["id"]))
    features = document["features"]
    if type(features) is dict:
        block = features.get(BLOCK)
        if block is not None:
            require(type(block) is list and len(block) == len(BLOCK_FEATURES))
            require(features.keys().isdisjoint(BLOCK_FEATURES))
            features = features | dict(zip(BLOCK_FEATURES, block, strict=True))
        require(features.keys() <= {*NAMES, BLOCK})
        features = [features.get(name) for name in NAMES]
    require(type(features) is list and len(features) == len(NAMES))
    return [number(value) for value in features]


def _expected(ids: list[tuple[str, list[str]]], scores: Float64Array, top_k: int | None) -> Any:
    rankings, start = [], 0
    for query_id, document_ids in ids:
        scored = sorted(zip(document_ids, scores[start:].tolist(), strict=False), key=lambda pair: -pair[1])
        ranking = [(document, rank, score) for rank, (document, score) in enumerate(scored, 1)]
        rankings.append((query_id, ranking[:top_k]))
        start += len(document_ids)
    return rankings


def _general(content: bytes, settings: ApiSettings, model: ServedModel) -> JsonCandidates | None:
    try:
        body = parse_json(content, max_containers(settings))
        check_candidates(body, settings)
        return slow_candidates(RankRequest.model_validate(body), NAMES, precision=model.scorer.precision)
    except (JSONDecodeError, ValidationError, InvalidInput):
        return None
