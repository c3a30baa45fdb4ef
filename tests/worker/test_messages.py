"""The broker's messages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from core.jobs import Lane
from core.store import WakeUps
from core.store.wakeups import queue_of
from tests.servers import BrokerServer, running_broker
from worker.process.messages import TRANSPORT


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerServer]:
    """A broker for one test."""
    with running_broker(tmp_path / "broker") as broker:
        yield broker


def test_a_message_that_cannot_be_acknowledged_frees_its_prefetch_slot(broker: BrokerServer) -> None:
    """If the broker is unavailable when a job ends, the lane must still poll for messages later."""
    wake_ups = WakeUps(broker.url)
    assert wake_ups.send("job_1", "train")
    celery = Celery(broker=broker.url, set_as_current=False)
    celery.conf.broker_transport = TRANSPORT
    with celery.connection_for_read() as connection:
        channel = connection.default_channel
        channel.basic_qos(0, 1, False)
        message = channel.basic_get(queue_of(Lane.TRAINING))
        assert not channel.qos.can_consume()
        broker.process.kill()
        with pytest.raises(connection.connection_errors):
            message.ack()
        assert channel.qos.can_consume()
    wake_ups.close()
    celery.close()
