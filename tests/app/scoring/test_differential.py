"""The comparison of all readers of scoring requests, in its short form."""

import asyncio
from pathlib import Path

import pytest

from tests.app.scoring.differential.campaign import FORMS, Outcome, compare
from tests.app.scoring.differential.requests import Form
from tests.app.scoring.differential.served import served

pytestmark = pytest.mark.embedded

BODIES = 300


async def _compared(form: Form, folder: Path) -> Outcome:
    async with served(folder) as application:
        return [outcome async for outcome in compare(form, application, BODIES, first_seed=1_000_000)][-1]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_mutated_requests_are_scored_as_the_reference_scores_them(form: Form, tmp_path: Path) -> None:
    """The same status, the same scores to the bit, and nothing is a fault of ours."""
    outcome = asyncio.run(_compared(form, tmp_path))
    assert outcome.differences == []
    assert outcome.faults == 0
    assert outcome.bodies == outcome.accepted + outcome.refused == BODIES
    assert min(outcome.accepted, outcome.refused) > BODIES / 20
    assert outcome.scores > outcome.accepted / 2
