"""The comparison of all readers of scoring requests, in its short form."""

import asyncio
from pathlib import Path

import pytest

from tests.app.scoring.differential.campaign import FORMS, Outcome, compare
from tests.app.scoring.differential.imports import differences
from tests.app.scoring.differential.requests import Form
from tests.app.scoring.differential.served import served

pytestmark = pytest.mark.embedded

BODIES = 300


async def _compare(form: Form, folder: Path) -> Outcome:
    async with served(folder) as application:
        return [outcome async for outcome in compare(form, application, BODIES, first_seed=1_000_000)][-1]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_mutated_requests_are_scored_as_the_reference_scores_them(form: Form, tmp_path: Path) -> None:
    """The status and, to the bit, the scores are the same, and no response is 5xx."""
    outcome = asyncio.run(_compare(form, tmp_path))
    assert outcome.differences == []
    assert outcome.n_server_errors == 0
    assert outcome.bodies == outcome.accepted + outcome.refused == BODIES
    assert min(outcome.accepted, outcome.refused) > BODIES / 20
    assert outcome.scores > outcome.accepted / 2


async def _different(seeds: range, n_rows: int, folder: Path) -> list[str]:
    async with served(folder) as application:
        return [each for seed in seeds for each in await differences(application, seed, n_rows)]


@pytest.mark.long
def test_an_imported_model_has_lightgbms_scores_in_every_form(tmp_path: Path) -> None:
    """The scores equal those of LightGBM's `predict` to the bit, for models with any options of LightGBM."""
    assert asyncio.run(_different(range(12), 50, tmp_path)) == []


@pytest.mark.slow
def test_two_hundred_imported_models_have_lightgbms_scores_in_every_form(tmp_path: Path) -> None:
    """The scores of 200 models and 1,000 documents each equal those of LightGBM to the bit."""
    assert asyncio.run(_different(range(1_000, 1_200), 1_000, tmp_path)) == []
