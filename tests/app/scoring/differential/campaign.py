"""Mutated requests, sent one by one to the application and to the reference."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import numpy as np

from tests.app.scoring.differential.rank_requests import RankRequests
from tests.app.scoring.differential.requests import (
    IMPORTED,
    NAMES,
    WEB,
    Answer,
    ExpectedScores,
    Form,
    Refused,
    Sent,
)
from tests.app.scoring.differential.served import Served
from tests.app.scoring.differential.table_requests import TableRequests
from tests.app.scoring.differential.tensor_requests import TensorRequests

FORMS: Sequence[Form] = (
    RankRequests(),
    TensorRequests(binary=False),
    TensorRequests(binary=True),
    TableRequests(),
)
BATCH = 500
_MODELS = (WEB, IMPORTED)
_REFUSALS = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)


@dataclass
class Outcome:
    """Results of the requests of a form.

    Attributes:
        bodies: Number of requests.
        accepted: Number of requests that the service scored.
        refused: Number of requests that the service refused.
        stricter: Number of refusals by a rule that the reference does not have.
        fast: Bodies that the fast path read.
        scores: Number of compared scores.
        n_server_errors: Number of 5xx responses.
        differences: Seed and difference of each request that was read in different ways.
    """

    bodies: int = 0
    accepted: int = 0
    refused: int = 0
    stricter: int = 0
    fast: int = 0
    scores: int = 0
    n_server_errors: int = 0
    differences: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Exchange:
    seed: int
    answer: Answer
    reading: ExpectedScores | None


async def compare(form: Form, served: Served, bodies: int, first_seed: int = 0) -> AsyncIterator[Outcome]:
    """Compare a number of requests of a form; yield the results so far after each batch."""
    outcome = Outcome()
    for first in range(first_seed, first_seed + bodies, BATCH):
        seeds = range(first, min(first + BATCH, first_seed + bodies))
        exchanges = [await _exchange(form, served, seed, outcome) for seed in seeds]
        for model in _MODELS:
            _judge_all(form, [one for one in exchanges if _model(one.seed) == model], served, outcome)
        yield outcome


def _model(seed: int) -> str:
    return _MODELS[seed % len(_MODELS)]


async def _exchange(form: Form, served: Served, seed: int, outcome: Outcome) -> _Exchange:
    sent = form.make(seed)
    sent = replace(sent, path=sent.path.replace(f"/{WEB}/", f"/{_model(seed)}/"))
    answer = await served.send(sent)
    is_fast, difference = form.compare_readers(sent, await served.model(_model(seed)), served.settings)
    outcome.fast += is_fast
    if difference:
        outcome.differences.append((seed, difference))
    return _Exchange(seed, answer, _read(form, sent, served))


def _read(form: Form, sent: Sent, served: Served) -> ExpectedScores | None:
    try:
        return form.read(sent, served.settings)
    except Refused:
        return None


def _judge_all(form: Form, exchanges: Sequence[_Exchange], served: Served, outcome: Outcome) -> None:
    """Judge requests to one model; LightGBM computes the scores of all of them in one call."""
    read = [exchange.reading.features for exchange in exchanges if exchange.reading]
    features = np.concatenate([np.empty((0, len(NAMES))), *read])
    scores = served.scores(features, _model(exchanges[0].seed)) if len(features) else np.empty(0)
    for exchange in exchanges:
        size = len(exchange.reading.features) if exchange.reading else 0
        _judge(form, exchange, scores[:size], outcome)
        scores = scores[size:]


def _judge(form: Form, exchange: _Exchange, scores: Any, outcome: Outcome) -> None:
    answer, reading = exchange.answer, exchange.reading
    outcome.bodies += 1
    if answer.status == HTTPStatus.OK:
        outcome.accepted += 1
        outcome.scores += len(scores)
        actual = form.answered_scores(answer)
        difference = "only the application accepts it" if reading is None else ""
        if reading is not None and not _same(actual, reading.expected(scores)):
            difference = f"scored {actual}, not {reading.expected(scores)}"
    elif answer.status in _REFUSALS:
        outcome.refused += 1
        stricter = reading is not None and form.is_stricter(answer)
        outcome.stricter += stricter
        difference = "" if reading is None or stricter else f"refused: {_detail(answer)}"
    else:
        outcome.n_server_errors += answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        difference = f"answered {answer.status}: {_detail(answer)}"
    if difference:
        outcome.differences.append((exchange.seed, difference[:1000]))


def _same(found: Any, expected: Any) -> bool:
    """Compare to the bit: `repr` distinguishes -0.0 from 0.0 and has all digits."""
    return repr(found) == repr(expected)


def _detail(answer: Answer) -> str:
    try:
        return str(json.loads(answer.content))
    except ValueError:
        return answer.content.decode(errors="replace")
