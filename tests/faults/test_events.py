"""A short form of `make test-events`.

`make test` includes similar tests: `tests/integration/test_two_apis.py` kills the sender of a webhook, and
`tests/integration/test_restarts.py` follows events over a restart.
"""

from pathlib import Path

import pytest

from rankery.processes import _GRACEFUL_SHUTDOWN_SECONDS
from tests.faults.events import SETTINGS, EventCampaign
from tests.faults.installation import on_one_disk
from tests.servers.webhook_receiver import running_receiver

pytestmark = pytest.mark.slow

EVENTS = 60


def test_events_survive_restarts(tmp_path: Path) -> None:
    """Each event reaches the webhook at least once, signed and in order, and the stream exactly once."""
    with (
        on_one_disk(tmp_path / "disk", mount=False, settings=SETTINGS) as installation,
        running_receiver(tmp_path / "receiver") as receiver,
        EventCampaign(installation, receiver, seed=25) as campaign,
    ):
        outcome = campaign.run(EVENTS, ["kill the API", "restart the worker", "restart the API"])
    assert outcome.problems == []
    assert len(outcome.events) >= EVENTS
    assert outcome.connections >= 3
    # If the API waited for the client of the open stream, it would stop only after this time limit.
    assert max(outcome.stopped_seconds) < _GRACEFUL_SHUTDOWN_SECONDS
