"""Responses stored for repeated requests."""

from datetime import timedelta

import pytest

from core.errors import WrongState
from core.store import Store, Transaction
from core.store.clock import utc_now
from core.store.repositories.requests import EXPIRY


def _remember(tx: Transaction, key: str, endpoint: str = "POST /v1/jobs") -> None:
    tx.idempotency.remember(
        key, endpoint, request_sha256="ab", status_code=202, body={"id": key}, headers={"Location": "/x"}
    )


def _add_job_and_remember(tx: Transaction, key: str) -> None:
    tx.jobs.add("train", {})
    _remember(tx, key)


def test_an_answer_is_found_again(store: Store) -> None:
    """An answer is found by its key at its endpoint and nowhere else."""
    with store.begin() as tx:
        assert tx.idempotency.find("k", "POST /v1/jobs") is None
        _remember(tx, "k")
    with store.read() as tx:
        found = tx.idempotency.find("k", "POST /v1/jobs")
        assert found is not None
        assert (found.request_sha256, found.status_code) == ("ab", 202)
        assert (found.body, found.headers) == ({"id": "k"}, {"Location": "/x"})
        assert tx.idempotency.find("k", "POST /v1/datasets") is None
        assert tx.idempotency.find("other", "POST /v1/jobs") is None


@pytest.mark.both_stores
def test_a_used_key_stores_no_second_answer(store: Store) -> None:
    """Remembering an answer under a used key fails, and rolls back the rows of the second request."""
    with store.begin() as tx:
        _remember(tx, "k")
    with pytest.raises(WrongState), store.begin() as tx:
        _add_job_and_remember(tx, "k")
    with store.begin() as tx:
        _remember(tx, "k", "POST /v1/datasets")
        assert tx.jobs.page(None, 1).items == []


def test_answers_expire(store: Store) -> None:
    """An answer is kept for 24 hours; then its key can be used again."""
    assert timedelta(hours=24) == EXPIRY
    with store.begin() as tx:
        _remember(tx, "old")
        record = tx.idempotency.find("old", "POST /v1/jobs")
        assert record is not None
        record.created_at = utc_now() - EXPIRY
    with store.begin() as tx:
        assert tx.idempotency.find("old", "POST /v1/jobs") is None
        _remember(tx, "old")
        assert tx.idempotency.find("old", "POST /v1/jobs") is not None


def test_old_answers_are_forgotten(store: Store) -> None:
    """Answers from before a moment are dropped and counted, later ones stay."""
    with store.begin() as tx:
        _remember(tx, "a")
        _remember(tx, "b")
        assert tx.idempotency.forget_older_than(utc_now() - EXPIRY) == 0
        assert tx.idempotency.forget_older_than(utc_now()) == 2
        assert tx.idempotency.find("a", "POST /v1/jobs") is None
