"""Distributed trainings on the command line: options, and the summary of ranks."""

from typing import Any

import pytest

from rankery.cli.exit_codes import WrongUsage
from rankery.cli.texts import NotUnderstood
from rankery.cli.training_options import distribution_of
from rankery.client.arguments import distribution_field
from rankery.client.display.texts import ranks
from tests.rankery.answers import job_of


@pytest.mark.parametrize(
    ("options", "distribution"),
    [
        ((None, None), None),
        (("4", None), {"ranks": {"at_most": 4}}),
        (("2-8", None), {"ranks": {"at_least": 2, "at_most": 8}}),
        (("3-16", 4), {"ranks": {"at_least": 3, "at_most": 16}, "threads_per_rank": 4}),
    ],
)
def test_ranks_are_a_number_or_two(options: Any, distribution: dict[str, Any] | None) -> None:
    """One number is the maximum number of ranks; omitted options have the service's defaults."""
    assert distribution_of(*options) == distribution


@pytest.mark.parametrize("ranks", ["", "four", "2-", "-8", "2-4-8", "2.5", "2 - 4"])
def test_other_ranks_are_not_understood(ranks: str) -> None:
    """The error lists the valid forms."""
    with pytest.raises(NotUnderstood, match=r"--ranks takes a maximum such as 8, or a range such as 2-8"):
        distribution_of(ranks, None)


def test_threads_need_ranks() -> None:
    """Threads per rank are refused without ranks, since they have no effect."""
    with pytest.raises(WrongUsage, match="--ranks"):
        distribution_of(None, 4)


def test_the_client_takes_a_number() -> None:
    """A number is the maximum number of ranks, and a dictionary is sent unchanged."""
    assert distribution_field(None) is None
    assert distribution_field(4) == {"ranks": {"at_most": 4}}
    assert distribution_field({"threads_per_rank": 2}) == {"threads_per_rank": 2}


def test_ranks_are_summarised_by_host() -> None:
    """The summary names each host once, and the number of restarts."""
    progress = {"phase": "training", "restarts": 0}
    places = [{"rank": rank, "host": host} for rank, host in enumerate(["node-1", "node-1", "node-2"])]
    assert ranks(job_of()) == ranks(job_of(progress=progress)) == ""
    assert ranks(job_of(progress=progress | {"ranks": places})) == "3 on node-1, node-2"
    once = progress | {"ranks": places[:2], "restarts": 1}
    assert ranks(job_of(progress=once)) == "2 on node-1, restarted once"
    often = once | {"restarts": 3}
    assert ranks(job_of(progress=often)) == "2 on node-1, restarted 3 times"
