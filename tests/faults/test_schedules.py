"""The short form of `make test-schedules`: workers killed at each commit that advances a schedule."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from core.store import Store
from core.store.engines import for_reading, open_engine
from tests.faults.schedule_verdict import schedule_problems
from tests.faults.schedule_worker import MOMENTS, KillMoment, run_worker, settings_of
from tests.servers.fixtures import StoreArguments
from tests.worker.almanac import NIGHT, Almanac
from tests.worker.inline_worker import InlineWorker

MINUTE = timedelta(minutes=1)
KILLED = -9


@pytest.fixture
def almanac(store_arguments: StoreArguments) -> Iterator[Almanac]:
    """A store with a dataset named `clicks`."""
    settings = settings_of(store_arguments)
    store = Store.open(settings)
    yield Almanac(InlineWorker(store, settings))
    store.close()


def test_a_worker_killed_at_a_commit_runs_the_due_time_once(
    almanac: Almanac, store_arguments: StoreArguments
) -> None:
    """The due time is neither lost nor has two runs; its model is made once and moves the alias once."""
    schedule_id = almanac.add(cron="* * * * *", alias="champion")
    almanac.set_gate(almanac.add_data(9, "judged"), require="not_worse", max_slice_drop=1.0)
    for kill_moment in (
        KillMoment("the run and its job", committed=False),
        KillMoment("the model", committed=True),
    ):
        assert run_worker(store_arguments, NIGHT, kill_moment) == KILLED, kill_moment
    assert run_worker(store_arguments, NIGHT) == 0
    assert _problems(almanac, schedule_id, [NIGHT]) == []
    assert almanac.statuses(schedule_id) == ["promoted"]
    assert almanac.champion() == 1


@pytest.mark.slow
def test_workers_killed_at_any_commit_run_each_due_time_once(
    almanac: Almanac, store_arguments: StoreArguments
) -> None:
    """No due time is lost or has two runs; each run moves the alias once, and only as its gate allows."""
    judged = almanac.add_data(9, "judged")
    schedule_id = almanac.add(cron="* * * * *", alias="champion")
    almanac.set_gate(judged, require="not_worse", max_slice_drop=1.0)
    assert run_worker(store_arguments, NIGHT) == 0
    for number, committed in enumerate((False, True), 1):
        for moment in MOMENTS:
            assert (
                run_worker(store_arguments, NIGHT + number * MINUTE, KillMoment(moment, committed)) == KILLED
            ), moment
        assert run_worker(store_arguments, NIGHT + number * MINUTE) == 0
    almanac.set_gate(judged, require="better")
    for committed in (False, True):
        assert run_worker(store_arguments, NIGHT + 3 * MINUTE, KillMoment("the alias", committed)) == KILLED
    assert run_worker(store_arguments, NIGHT + 3 * MINUTE) == 0
    assert _problems(almanac, schedule_id, [NIGHT + number * MINUTE for number in range(4)]) == []
    assert almanac.statuses(schedule_id) == ["promoted", "promoted", "promoted", "refused"]
    assert almanac.champion() == 3


def _problems(almanac: Almanac, schedule_id: str, dues: list[datetime]) -> list[str]:
    engine = for_reading(open_engine(almanac.inline_worker.settings.database_url))
    problems = schedule_problems(engine, schedule_id, dues)
    engine.dispose()
    return problems
