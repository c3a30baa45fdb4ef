"""A Redis of the tests' own that can be killed, emptied and started again."""

import secrets
from pathlib import Path

import redis

from rankery.embedded.redis import find_redis_server, redis_answers, redis_configuration, redis_url
from tests.servers.process import ServerProcess, free_port, tied


class RedisServer:
    """A server on a port of its own, which stays the same through `kill` and `start`; it keeps nothing.

    Args:
        folder: Where its configuration and log are kept; made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        port, password = free_port(), secrets.token_urlsafe(16)
        self.url = redis_url(port, password)
        configuration = folder / "redis.conf"
        configuration.write_text(redis_configuration(port, password, folder))
        self.process = ServerProcess(
            tied([find_redis_server(), str(configuration)]),
            folder / "redis.log",
            lambda: redis_answers(self.url),
        )

    def flush(self) -> None:
        """Forget every message."""
        with redis.Redis.from_url(self.url) as connection:
            connection.flushall()
