"""A short form of `make test-faults`: a few faults, a few jobs, recovery made quick by settings.

What `make test` has of it: `tests/integration` kills a process, a service and an import at work, and
`tests/worker/test_checkpoints.py` continues from a checkpoint.
"""

from dataclasses import replace

import pytest

from tests.faults.campaign import Campaign
from tests.faults.faults import NOTHING, ON_SERVERS, TWO_WORKERS
from tests.faults.resume import kill_and_resume
from tests.faults.work import automatic, network_stopping_early

pytestmark = pytest.mark.slow

JOBS = 4
ITERATIONS = 40


def test_jobs_survive_kills_and_a_flush(campaign: Campaign) -> None:
    """Whatever is killed or forgotten, every accepted job ends once and makes what it makes undisturbed."""
    faults = [replace(ON_SERVERS[name], strikes=1) for name in ("child", "api", "flush")]
    for fault in (NOTHING, *faults):
        row = campaign.batch(fault, JOBS, ITERATIONS)
        assert row.is_good, (fault.name, row.complaints)
        assert row.finished >= JOBS


def test_two_workers_carry_out_each_job_once(campaign: Campaign) -> None:
    """Two workers that share only servers take each job once, and both take some."""
    row = campaign.batch(TWO_WORKERS, 8, ITERATIONS)
    assert row.is_good, row.complaints
    assert row.finished == 8


def test_a_killed_training_of_a_network_goes_on_to_the_same_model(campaign: Campaign) -> None:
    """Its epochs continue from a checkpoint in the bucket, to the same bytes."""
    killed = kill_and_resume(campaign, 2, network_stopping_early)
    assert [one.complaints for one in killed if not one.is_good] == []
    assert any(one.resumed_from for one in killed)


def test_a_killed_training_goes_on_to_the_same_model(campaign: Campaign) -> None:
    """Resumed from a checkpoint, a training makes the model, history and evaluation of an undisturbed one."""
    killed = kill_and_resume(campaign, 2)
    assert [one.complaints for one in killed if not one.is_good] == []
    assert any(one.resumed_from for one in killed)


def test_a_killed_automatic_training_goes_on_to_the_same_model(campaign: Campaign) -> None:
    """The scores of completed folds are kept, and jobs beside it may try other candidates meanwhile."""
    killed = kill_and_resume(campaign, 2, automatic)
    assert [one.complaints for one in killed if not one.is_good] == []
