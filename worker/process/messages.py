"""Accept only valid wake-up messages from the broker.

Celery does not validate messages. A malformed message would crash or block the worker, and be redelivered
after its restart. So only wake-ups in the format of `core.store.WakeUps` are passed on to Celery.
"""

import json
from base64 import b64decode
from typing import Any

import structlog
from kombu.transport import redis

from core.store import RUN_JOB

TRANSPORT = "worker.process.messages:Transport"
_NO_LIMITS = (None, [None, None])
_LOG = structlog.stdlib.get_logger(__name__)


class QoS(redis.QoS):
    """Unacknowledged messages, limited by the prefetch count."""

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message.

        Raises:
            ConnectionError: The broker is unavailable. The message no longer counts as unacknowledged:
                otherwise a lane with one prefetch slot would never poll the broker again.
        """
        try:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call] # kombu has no types
        except self.channel.connection_errors:
            self._quick_ack(delivery_tag)
            raise


class Channel(redis.Channel):
    """A channel that drops malformed messages."""

    QoS = QoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call] # kombu has no types
        except ValueError as error:  # the message is not JSON
            _LOG.warning("message.dropped", error=str(error))
            return None


class Transport(redis.Transport):
    """Redis transport that accepts only wake-ups."""

    Channel = Channel

    def _deliver(self, message: Any, queue: str) -> None:
        if is_wake_up(message):
            super()._deliver(message, queue)  # type: ignore[no-untyped-call] # kombu has no types
        else:
            _LOG.warning("message.dropped", queue=queue, start=repr(message)[:100])


def is_wake_up(message: Any) -> bool:
    """Return whether a message is a wake-up in the format of `WakeUps`."""
    try:
        headers, properties = message["headers"], message["properties"]
        (job_id,), keyword_arguments, callbacks = json.loads(b64decode(message["body"], validate=True))
        return (
            isinstance(job_id, str)
            and not keyword_arguments
            and not any(callbacks.values())
            and headers["task"] == RUN_JOB
            and isinstance(headers["id"], str)
            and headers.get("eta") is headers.get("expires") is None
            and headers.get("timelimit") in _NO_LIMITS
            and message["content-type"] == "application/json"
            and message["content-encoding"] == "utf-8"
            and properties["body_encoding"] == "base64"
            and isinstance(properties["delivery_tag"], str)
            and isinstance(properties["delivery_info"], dict)
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return False
