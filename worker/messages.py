"""Messages as the broker hands them over: wake-ups of ours, or whatever else was written into its queues.

Celery takes the form of a message for granted: one that is not as it expects would end the worker, and again each
time it comes back.
"""

from typing import Any

import structlog
from celery.exceptions import InvalidTaskError
from celery.worker.strategy import default
from kombu.exceptions import ContentDisallowed, DecodeError
from kombu.transport import redis

CAREFUL = "worker.messages:careful"
TRANSPORT = "worker.messages:Transport"
_NO_LIMITS = (None, [None, None])
_LOG = structlog.stdlib.get_logger(__name__)


def careful(task: Any, app: Any, consumer: Any, **options: Any) -> Any:
    """Take messages of the task as Celery does, and drop those that it stumbles over."""
    handle = default(task, app, consumer, **options)
    expected = (InvalidTaskError, ContentDisallowed, DecodeError, *consumer.connection_errors)

    def handle_carefully(message: Any, *arguments: Any, **more: Any) -> Any:
        if message.headers.get("timelimit") not in _NO_LIMITS:
            # Celery reads it when it has taken a place in the pool already, and would never give that back.
            raise InvalidTaskError("a wake-up has no time limits")
        try:
            return handle(message, *arguments, **more)
        except expected:
            raise
        except Exception as error:
            # Which Celery logs, and then rejects the message.
            raise InvalidTaskError(f"malformed message: {error}") from error

    return handle_carefully


class Channel(redis.Channel):
    """A channel that drops what is no message at all."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            _LOG.warning("message.dropped", error=f"{type(error).__name__}: {error}")
            return None


class Transport(redis.Transport):
    """Redis with such channels."""

    Channel = Channel
