"""The broker's messages."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from celery import Celery

from core.jobs import Lane
from core.store import WakeUps
from core.store.wakeups import queue_of
from tests.servers import BrokerServer, running_broker
from worker.process.messages import TRANSPORT, is_wake_up


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


def test_a_wake_up_that_names_other_tasks_is_refused(broker: BrokerServer) -> None:
    """Celery would run the tasks of `callbacks` after the job."""
    wake_ups = WakeUps(broker.url)
    assert wake_ups.send("job_1", "train")
    wake_ups.close()
    with redis.Redis.from_url(broker.url) as client:
        message = json.loads(client.rpop(queue_of(Lane.TRAINING)))
    args, kwargs, embed = json.loads(b64decode(message["body"]))
    embed["callbacks"] = [{"task": "os.system"}]
    body = b64encode(json.dumps([args, kwargs, embed]).encode()).decode()
    assert is_wake_up(message)
    assert not is_wake_up(message | {"body": body})
    assert not is_wake_up(message | {"body": "%%%"})


def test_a_message_that_is_not_json_is_dropped(broker: BrokerServer) -> None:
    """The wake-up after it is delivered."""
    name = queue_of(Lane.TRAINING)
    wake_ups = WakeUps(broker.url)
    celery = Celery(broker=broker.url, set_as_current=False)
    celery.conf.broker_transport = TRANSPORT
    with redis.Redis.from_url(broker.url) as client, celery.connection_for_read() as connection:
        client.lpush(name, b"not JSON")
        assert wake_ups.send("job_1", "train")
        with connection.SimpleQueue(name) as queue:
            assert queue.get(timeout=10.0).payload[0] == ["job_1"]
    wake_ups.close()
    celery.close()
