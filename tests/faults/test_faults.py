"""A short form of `make test-faults`: a few faults and jobs, with settings for quick recovery.

`make test` includes similar tests: `tests/integration` kills a process, a service and an import at work,
and `tests/worker/test_checkpoints.py` continues from a checkpoint.
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
    """After kills and a flush, every accepted job ends once with the result of an undisturbed job."""
    faults = [replace(ON_SERVERS[name], injections=1) for name in ("child", "api", "flush")]
    for fault in (NOTHING, *faults):
        row = campaign.run_batch(fault, JOBS, ITERATIONS)
        assert row.is_good, (fault.name, row.problems)
        assert row.finished >= JOBS


def test_two_workers_run_each_job_once(campaign: Campaign) -> None:
    """Two workers that share only servers run each job once, and each worker runs some."""
    row = campaign.run_batch(TWO_WORKERS, 8, ITERATIONS)
    assert row.is_good, row.problems
    assert row.finished == 8


def test_a_killed_training_of_a_network_resumes_to_the_same_model(campaign: Campaign) -> None:
    """The epochs continue from a checkpoint in the bucket, and the model has the same bytes."""
    killed = kill_and_resume(campaign, 2, network_stopping_early)
    assert [one.problems for one in killed if not one.is_good] == []
    assert any(one.resumed_from for one in killed)


def test_a_killed_training_resumes_to_the_same_model(campaign: Campaign) -> None:
    """A training resumed from a checkpoint has the model, history and evaluation of an undisturbed one."""
    killed = kill_and_resume(campaign, 2)
    assert [one.problems for one in killed if not one.is_good] == []
    assert any(one.resumed_from for one in killed)


def test_a_killed_automatic_training_resumes_to_the_same_model(campaign: Campaign) -> None:
    """The scores of completed folds are kept, and parallel jobs may try other candidates meanwhile."""
    killed = kill_and_resume(campaign, 2, automatic)
    assert [one.problems for one in killed if not one.is_good] == []
