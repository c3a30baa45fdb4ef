"""Detection of silent workers, whatever happens to the wall clock."""

from collections.abc import Callable

import pytest

from core.store import Job, Store
from core.store.clock import utc_now
from core.store.leases import LeaseWatch

LEASE_SECONDS, WATCH_SECONDS, BEAT_SECONDS = 8, 4, 2
HOUR = 3600
CLOCKS = pytest.mark.parametrize("set_by", [0, -HOUR, HOUR], ids=["right", "set back", "set forward"])


class Sweeps:
    """Sweeps of one sweeper, a second apart by a clock that is never set."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._now = 0.0
        self._leases = LeaseWatch(LEASE_SECONDS, WATCH_SECONDS, lambda: self._now)

    def lost(self) -> list[str]:
        """Advance the sweeper's clock by a second, and return the ids of lost jobs."""
        self._now += 1
        with self._store.read() as tx:
            return [job.id for job in self._leases.lost(tx.jobs.running_on(""), utc_now())]

    def seconds_until_lost(self, between: Callable[[], object] = lambda: None) -> int:
        """Count the seconds until the running job is lost; up to a minute."""
        for seconds in range(60):
            if self.lost():
                return seconds
            between()
        return 60


def beat(store: Store, job: Job, clock_set_by: float) -> None:
    """Renew a lease as if a clock was set afterwards, which shifts the end of the lease."""
    with store.begin() as tx:
        tx.jobs.renew(job.id, job.token, LEASE_SECONDS - clock_set_by)


@pytest.mark.both_stores
@CLOCKS
def test_the_job_of_a_dead_worker_is_lost_within_a_lease(store: Store, claimed: Job, set_by: float) -> None:
    """A clock that was set back does not keep the job; one that was set forward loses it a little sooner."""
    beat(store, claimed, set_by)
    assert Sweeps(store).seconds_until_lost() == (WATCH_SECONDS if set_by > 0 else LEASE_SECONDS)


@CLOCKS
def test_the_job_of_a_living_worker_is_kept(store: Store, claimed: Job, set_by: float) -> None:
    """A heartbeat counts whatever end of the lease it has, even one in the past."""
    sweeps = Sweeps(store)
    for _ in range(20):
        beat(store, claimed, set_by)
        assert [sweeps.lost() for _ in range(BEAT_SECONDS)] == [[]] * BEAT_SECONDS


def test_setting_the_clock_does_not_affect_the_detection(store: Store, claimed: Job) -> None:
    """The job of a living worker is kept while its clock is set; the death of the worker is detected."""
    sweeps = Sweeps(store)
    for set_by in (0, -HOUR, HOUR, 0, HOUR, -HOUR):
        beat(store, claimed, set_by)
        assert not sweeps.lost()
    assert sweeps.seconds_until_lost() == LEASE_SECONDS - 1


def test_an_ended_lease_is_watched_before_its_job_is_lost(store: Store, claimed: Job) -> None:
    """A sweeper that has just started waits `WATCH_SECONDS` for a heartbeat."""
    beat(store, claimed, HOUR)
    assert Sweeps(store).seconds_until_lost() == WATCH_SECONDS


def test_each_sweeper_measures_silence_separately(store: Store, claimed: Job) -> None:
    """Of two sweepers that started at different times, the earlier one detects the loss first."""
    beat(store, claimed, -HOUR)
    early, late = Sweeps(store), Sweeps(store)
    for _ in range(LEASE_SECONDS):
        assert early.lost() == []
    assert (early.lost(), late.lost()) == ([claimed.id], [])


def test_a_new_claim_restarts_the_measurement_of_silence(store: Store, claimed: Job) -> None:
    """The silence of an earlier worker does not count against the next one."""
    sweeps = Sweeps(store)
    assert sweeps.seconds_until_lost() < 60
    with store.begin() as tx:
        tx.jobs.recover(claimed, 3)
        again = tx.jobs.claim(claimed.id, "w2", LEASE_SECONDS)
    assert again is not None
    beat(store, again, -HOUR)
    assert sweeps.seconds_until_lost() == LEASE_SECONDS
