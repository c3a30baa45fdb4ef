"""Distributed trainings: the form with the number of ranks, and the page that shows the ranks."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from core.store import Job, Store
from tests.browser import histories
from tests.browser.actions import fill_training, job_spec, open_training, start_training
from tests.browser.prepared import QUERIES, Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

DATA = "judged over ranks.csv"
MODEL = "over-ranks"
RANKS: list[dict[str, Any]] = [
    {
        "rank": rank,
        "host": f"trainer-{rank // 2 + 1}.search.example",
        "queries": 6_306 + rank,
        "documents": 755_201 - rank,
        "memory_bytes": 412_000_000 + 1_000_000 * rank,
        "waiting_share": 0.12 + rank / 100,
        "stage": "histograms" if rank else "checkpoint",
    }
    for rank in range(3)
]


@pytest.fixture
def running(store: Store) -> Iterator[Job]:
    """A training that runs on three ranks until the test ends."""
    job = histories.distributed(store, RANKS, restarts=1)
    yield job
    with store.begin() as tx:
        if tx.jobs.get(job.id).status == "running":
            tx.jobs.end_cancelled(job.id, job.token)


def fill_form(visit: Visit, prepared: Prepared) -> Page:
    """Fill in the training form."""
    prepared.dataset(DATA, 11)
    return fill_training(visit, dataset=DATA, model=MODEL, iterations=3)


def test_a_training_is_distributed_by_the_form(visit: Visit, prepared: Prepared) -> None:
    """The option is off by default; the numbers are sent as typed, and a cloned form has them again."""
    page = fill_form(visit, prepared)
    part = page.get_by_role("group", name="Distribution")
    box = part.get_by_role("checkbox")
    expect(box).not_to_be_checked()
    expect(part.get_by_label("Ranks, at most")).to_be_hidden()
    box.check()
    expect(part.get_by_label("Ranks, at most")).to_have_value("8")
    part.get_by_label("Ranks, at most").fill("4")
    part.get_by_label("Threads per rank").fill("3")
    assert visit.violations() == []
    visit.fit("distribution-form")
    job_id = start_training(page)
    assert job_spec(visit, job_id, cancel=True)["distribution"] == {
        "ranks": {"at_least": 2, "at_most": 4},
        "threads_per_rank": 3,
    }

    page = open_training(visit, f"from={job_id}")
    expect(part.get_by_role("checkbox")).to_be_checked()
    expect(part.get_by_label("Ranks, at most")).to_have_value("4")
    expect(part.get_by_label("Threads per rank")).to_have_value("3")


@pytest.mark.slow  # most tests of forms leave the numbers empty
def test_empty_numbers_are_the_defaults(visit: Visit, prepared: Prepared) -> None:
    """Empty numbers mean the defaults, and the page's code for another submission omits them."""
    page = fill_form(visit, prepared)
    part = page.get_by_role("group", name="Distribution")
    part.get_by_role("checkbox").check()
    for label in ("Ranks, at most", "Ranks, at least", "Threads per rank"):
        part.get_by_label(label).fill("")
    job_id = start_training(page)
    assert job_spec(visit, job_id, cancel=True)["distribution"] == {
        "ranks": {"at_least": 2, "at_most": 8},
        "threads_per_rank": 1,
    }
    page.locator(".as-code summary").click()
    code = page.locator(".as-code .snippet", has_text="curl").locator("pre").inner_text()
    request = json.loads(code[code.index("{") : code.rindex("}") + 1])
    assert request["distribution"] == {}

    page = open_training(visit, f"from={job_id}")
    expect(part.get_by_role("checkbox")).to_be_checked()


@pytest.mark.slow  # most tests of forms train in one process
def test_one_process_is_the_default(visit: Visit, prepared: Prepared) -> None:
    """The form sends no distribution when the box is unticked, even after it was ticked."""
    page = fill_form(visit, prepared)
    box = page.get_by_role("group", name="Distribution").get_by_role("checkbox")
    box.check()
    box.uncheck()
    assert "distribution" not in job_spec(visit, start_training(page), cancel=True)


def test_networks_are_not_distributed(visit: Visit, prepared: Prepared) -> None:
    """The form hides the option for networks, and keeps its values for trees."""
    page = fill_form(visit, prepared)
    part = page.get_by_role("group", name="Distribution")
    part.get_by_role("checkbox").check()
    page.locator("#scorer").select_option("mlp")
    expect(part).to_have_count(0)
    page.locator("#scorer").select_option("trees")
    expect(part.get_by_role("checkbox")).to_be_enabled()
    expect(part.get_by_label("Ranks, at most")).to_be_visible()


def test_a_refused_distribution_is_explained_at_its_field(visit: Visit, prepared: Prepared) -> None:
    """The service refuses the value, and the form shows the reason at the field."""
    visit.refusals_expected = True
    page = fill_form(visit, prepared)
    part = page.get_by_role("group", name="Distribution")
    part.get_by_role("checkbox").check()
    part.get_by_label("Ranks, at most").fill("65")
    page.get_by_role("button", name="Start training").click()
    expect(part.locator(".field-error")).to_have_text(re.compile("64"))
    part.get_by_label("Ranks, at most").fill("4")
    page.locator("#field-hyperparameters-boosting").select_option("dart")
    page.get_by_label("Stop early").uncheck()
    page.get_by_role("button", name="Start training").click()
    expect(page.locator(".field-error")).to_contain_text("cannot be distributed: dart")


def test_ranks_are_shown_while_they_train(visit: Visit, running: Job, store: Store) -> None:
    """The page has a row per rank, the specification, and the last values after the job has ended."""
    page = visit.open(f"/jobs/{running.id}")
    panel = page.locator(".ranks")
    rows = panel.locator("tbody tr")
    expect(rows).to_have_count(3)
    cells = rows.nth(1).locator("th, td").all_inner_texts()
    assert cells == ["1", "trainer-1.search.example", "histograms", "13%", "6,307", "755,200", "413 MB"]
    expect(panel.locator(".hint")).to_contain_text("All ranks were restarted once after a rank was lost.")
    facts = page.locator("#job .facts").first
    expect(facts).to_contain_text(re.compile(r"ranks at most\s*4"))
    expect(facts).to_contain_text(re.compile(r"threads per rank\s*4"))
    assert visit.violations() == []
    visit.fit("distribution-job")

    with store.begin() as tx:
        tx.jobs.end_cancelled(running.id, running.token)
    expect(page.locator(".job-heading .status")).to_have_text("cancelled")
    expect(panel.locator(".hint")).to_contain_text("These are the last values before the end.")
    expect(rows.first.locator(".stage")).to_have_text("ended")


@pytest.mark.slow  # by default, other tests train on ranks and show their table
def test_a_distributed_training_ends_in_a_model(visit: Visit, prepared: Prepared) -> None:
    """The page lists two ranks, which together have all training queries."""
    page = fill_form(visit, prepared)
    part = page.get_by_role("group", name="Distribution")
    part.get_by_role("checkbox").check()
    part.get_by_label("Ranks, at most").fill("2")
    start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    rows = page.locator(".ranks tbody tr")
    expect(rows).to_have_count(2)
    queries = [int(row.locator("td.number").nth(1).inner_text()) for row in rows.all()]
    assert sum(queries) == round(QUERIES * 0.8)
    assert min(queries) > 0
    visit.fit("distribution-ended")


def test_other_jobs_show_no_ranks(visit: Visit, store: Store) -> None:
    """A training in one process has no list of ranks."""
    page = visit.open(f"/jobs/{histories.timed(store)}")
    expect(page.locator(".phases")).to_be_visible()
    expect(page.locator(".ranks")).to_be_hidden()
    visit.fit("phases")
