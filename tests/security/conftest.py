"""A service to attack: keys required, with data and a running worker."""

from collections.abc import Callable, Iterator

import pytest

from tests.browser.conftest import browser  # noqa: F401 - a fixture
from tests.security.attack import Answer, Attack, exchange
from tests.security.target import Target, running_target, stock

SCOPES = ("read", "score", "write", "admin")
Send = Callable[[Attack], Answer]


@pytest.fixture(scope="package")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Start the service once for all attacks, store one object of each kind, and make a key of each scope."""
    environment = {"RANKERY_READS_PER_SECOND": "0", "RANKERY_WRITES_PER_SECOND": "0"}
    with running_target(tmp_path_factory.mktemp("attacked"), **environment) as (target, _):
        stock(target)
        target.require_keys(SCOPES)
        yield target


@pytest.fixture
def send(target: Target) -> Send:
    """Function that sends an attack and returns the answer, in which it finds no internal details."""

    def send(attack: Attack) -> Answer:
        answer = exchange(target.url, attack.request(target.url, target.ids, target.secrets))
        received = answer.body + repr(answer.headers).encode()
        for inside in (
            b"Traceback",
            b"site-packages",
            str(target.data_dir).encode(),
            b"sqlite",
            *attack.never,
        ):
            assert inside not in received, inside
        return answer

    return send
