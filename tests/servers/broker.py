"""A broker for tests that can be killed, emptied and started again."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from rankery.embedded.broker import broker_answers, broker_configuration, broker_url, find_broker
from tests.servers.process import ServerProcess, free_port, tied


class BrokerServer:
    """A broker on a free port, which stays the same through `kill` and `start`; it stores nothing on disk.

    Args:
        folder: Folder of its configuration and log; created if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        port, password = free_port(), secrets.token_urlsafe(16)
        self.url = broker_url(port, password)
        configuration = folder / "broker.conf"
        configuration.write_text(broker_configuration(port, password, folder))
        self.process = ServerProcess(
            tied([find_broker(), str(configuration)]),
            folder / "broker.log",
            lambda: broker_answers(self.url),
        )

    def flush(self) -> None:
        """Delete all messages."""
        with redis.Redis.from_url(self.url) as connection:
            connection.flushall()


@contextmanager
def running_broker(folder: Path) -> Iterator[BrokerServer]:
    """Run a broker until the block ends."""
    broker = BrokerServer(folder)
    broker.process.start()
    try:
        yield broker
    finally:
        broker.process.stop()
