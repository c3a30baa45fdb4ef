"""Identifiers that sort by creation time."""

import os
import secrets
import threading
from datetime import UTC, datetime, timedelta

from core.store.clock import utc_now

DATASET = "ds_"
CLICK_LOG = "clk_"
JOB = "job_"
MODEL = "mdl_"
ALIAS_MOVE = "mov_"
EVALUATION = "evl_"
RANKING = "rnk_"
COMPARISON = "cmp_"
INSPECTION = "ins_"
EXPERIMENT = "exp_"
API_KEY = "key_"
AUDIT_ENTRY = "aud_"
STUDY = "std_"
SCHEDULE = "sch_"
SCHEDULE_RUN = "run_"
DRIFT_REPORT = "drf_"
INTERLEAVING = "itl_"
SHOWN_LIST = "lst_"
SERVED_RANKING = "srv_"
SCORE_SAMPLES = "smp_"
UPLOAD = "upl_"
WEBHOOK = "whk_"
DELIVERY = "dlv_"

LENGTH = 20
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base32, lower case
_RANDOM_BITS = 55  # 20 characters have 100 bits: 45 of milliseconds (until the year 3084), 55 random ones
_STEP_BITS = 32
_EPOCH, _MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)

_lock = threading.Lock()
_last = 0


def may_exist(text: str) -> bool:
    """Return whether an id may be in the database; PostgreSQL refuses to compare texts with NUL."""
    return "\0" not in text


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


# A forked child needs a new lock: the thread that may hold the old one does not exist there.
os.register_at_fork(after_in_child=_renew_lock)


def new_id(prefix: str) -> str:
    """Return a new identifier: a prefix and 20 characters that sort by time.

    Ids of one process strictly ascend; those of several processes follow their clocks, in milliseconds.
    """
    return prefix + _base32(_next_number())


def first_id(prefix: str, moment: datetime) -> str:
    """Return the smallest possible id of an object created at a moment."""
    return prefix + _base32(max(0, _milliseconds(moment)) << _RANDOM_BITS)


def is_id(text: str, prefix: str) -> bool:
    """Return whether a text is an identifier with that prefix."""
    body = text.removeprefix(prefix)
    return text.startswith(prefix) and len(body) == LENGTH and set(body) <= set(_ALPHABET)


def _next_number() -> int:
    global _last
    now = _milliseconds(utc_now()) << _RANDOM_BITS
    fresh = now | secrets.randbits(_RANDOM_BITS)
    # A random step instead of 1: children forked within one millisecond share `_last`.
    step = 1 + secrets.randbits(_STEP_BITS)
    with _lock:
        _last = max(fresh, _last + step)
        return _last


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def _base32(number: int) -> str:
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(5 * (LENGTH - 1), -1, -5))
