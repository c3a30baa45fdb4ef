"""Two API processes on one store share the deliveries of a webhook."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.api_process import ApiProcess
from tests.integration.waiting import LIMIT_SECONDS, wait_for
from tests.servers.fixtures import StoreArguments
from tests.servers.webhook_receiver import Receiver, running_receiver

EVENTS = 10
TIMEOUT_SECONDS = 3


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    """A running receiver."""
    with running_receiver(tmp_path / "receiver") as receiver:
        yield receiver


@pytest.fixture
def apis(store_arguments: StoreArguments, tmp_path: Path) -> Iterator[list[ApiProcess]]:
    """Two running API processes."""
    settings = {
        "RANKERY_OUTBOUND_ALLOWED": "127.0.0.1",
        "RANKERY_WEBHOOK_TIMEOUT_SECONDS": str(TIMEOUT_SECONDS),
    }
    apis = [ApiProcess(store_arguments, tmp_path, **settings) for _ in range(2)]
    for api in apis:
        api.start()
    yield apis
    for api in apis:
        api.kill()


@pytest.mark.slow  # tests/core/store/test_webhooks.py tests the claims of several processes
def test_one_delivers_and_the_other_takes_over(apis: list[ApiProcess], receiver: Receiver) -> None:
    """One process sends each event; if it is killed while it sends, the other process delivers the event."""
    webhook = httpx.post(f"{apis[0].url}/v1/webhooks", json={"url": receiver.url}).json()
    receiver.set_secret(webhook["secret"])
    for number in range(EVENTS):
        _cause_event(apis[number % 2])
    wait_for(lambda: len(receiver.received()) >= EVENTS and not _waiting(apis[1], webhook))
    assert len({each.message_id for each in receiver.received()}) == len(receiver.received()) == EVENTS

    receiver.answer(204, seconds=LIMIT_SECONDS)
    _cause_event(apis[0])
    (sender,) = wait_for(lambda: [api for api in apis if _is_connected(api, receiver)])
    sender.kill()
    receiver.answer(204)
    (survivor,) = [api for api in apis if api is not sender]
    wait_for(lambda: len(receiver.received()) > EVENTS)
    wait_for(lambda: not _waiting(survivor, webhook))
    (delivery, *_) = httpx.get(f"{survivor.url}/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
    assert (delivery["state"], delivery["attempts"]) == ("delivered", 1)
    assert [each.message_id for each in receiver.received()[EVENTS:]] == [delivery["id"]]


def _cause_event(api: ApiProcess) -> None:
    """Cancel a job, which no worker runs."""
    dataset = httpx.post(f"{api.url}/v1/datasets/synthetic", json={"queries": 2}).raise_for_status().json()
    httpx.post(f"{api.url}/v1/jobs/{dataset['job_id']}/cancel").raise_for_status()


def _waiting(api: ApiProcess, webhook: dict[str, Any]) -> int:
    return int(httpx.get(f"{api.url}/v1/webhooks/{webhook['id']}").json()["waiting"])


def _is_connected(api: ApiProcess, receiver: Receiver) -> bool:
    """Return whether a process has a connection to the receiver."""
    psutil = importlib.import_module("psutil")  # imported by name, since it has no types for mypy
    port = httpx.URL(receiver.url).port
    connections = psutil.Process(api.pid).net_connections()
    return any(
        link.raddr and link.raddr.port == port and link.status == psutil.CONN_ESTABLISHED
        for link in connections
    )
