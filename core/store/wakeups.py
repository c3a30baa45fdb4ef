"""Wake-up messages to workers; any of them may be lost."""

import logging
from functools import cached_property
from typing import Any

from core.jobs import lane_of
from core.store.faults import failure_reason
from core.store.settings import DEFAULT_BROKER_URL

RUN_JOB = "rankery.run_job"
TIMEOUT_SECONDS = 1.0

_log = logging.getLogger(__name__)


def queue_of(lane: str) -> str:
    """Return the broker queue of a lane."""
    return f"rankery.{lane}"


class WakeUps:
    """Sender of wake-ups. `send` never raises: the sweeper resends lost ones."""

    def __init__(self, broker_url: str | None = None) -> None:
        self._broker_url = broker_url or DEFAULT_BROKER_URL

    @cached_property
    def _celery(self) -> Any:
        from celery import Celery

        celery = Celery("rankery", broker=self._broker_url, set_as_current=False)
        celery.conf.update(
            task_serializer="json",
            accept_content=["json"],
            task_ignore_result=True,
            result_backend=None,
            broker_connection_timeout=TIMEOUT_SECONDS,
            broker_transport_options={
                "socket_timeout": TIMEOUT_SECONDS,
                "socket_connect_timeout": TIMEOUT_SECONDS,
                "max_retries": 0,
            },
        )
        return celery

    def warm_up(self) -> None:
        """Import the broker's client, which takes as long as hundreds of messages."""
        with self._celery.connection_for_write() as connection:
            _ = connection.transport, self._celery.amqp.send_task_message

    def send(self, job_id: str, kind: str) -> bool:
        """Wake a worker for a job of this kind; return whether the broker accepted the message."""
        try:
            queue = queue_of(lane_of(kind))
            self._celery.send_task(RUN_JOB, [job_id], queue=queue, retry=False, ignore_result=True)
        except Exception as error:  # noqa: BLE001 - the job is safe without the broker
            _log.warning("no wake-up sent for %s: %s", job_id, error)
            return False
        return True

    def fault(self) -> str | None:
        """Check the broker; return its fault without addresses, or None."""
        try:
            with self._celery.connection_for_write() as connection:
                connection.ensure_connection(max_retries=0, timeout=TIMEOUT_SECONDS)
        except Exception as error:  # noqa: BLE001 - each transport has its own errors
            return failure_reason(error)
        return None

    def close(self) -> None:
        """Close the connections."""
        if "_celery" in self.__dict__:  # otherwise there are no connections
            self._celery.close()
