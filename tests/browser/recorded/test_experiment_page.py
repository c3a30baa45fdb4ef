"""The page of an experiment of a paper."""

import pytest
from playwright.sync_api import expect

from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def test_a_finished_experiment_shows_its_numbers_claims_and_files(visit: Visit, prepared: Prepared) -> None:
    """The list opens the page with measured and printed values, verdicts, a figure, jobs and downloads."""
    experiment = prepared.experiment()
    page = visit.open("/experiments")
    page.locator(f'[data-experiment="{experiment}"] a.name').click()
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    table = page.get_by_role("region", name="Table 5", exact=True)
    for heading in ("train", "printed"):
        expect(table.get_by_role("columnheader", name=heading)).to_be_visible()
    expect(table.get_by_role("columnheader", name="difference")).to_have_count(0)  # for other data
    ours = page.locator('[data-table="table-5"] tbody td strong').first
    assert 0 < float(ours.inner_text()) <= 100
    claims = table.get_by_role("list", name="Claims of Table 5")
    expect(claims.locator(".verdict").first).to_have_text(_verdict(prepared, experiment))
    expect(page.locator('[data-table="figure-5"] .plot .drawing').first).to_be_visible()
    expect(page.get_by_role("region", name="Trainings").last.get_by_role("link").first).to_be_visible()
    with page.expect_download() as report:
        page.get_by_role("link", name="CSV", exact=True).click()
    assert report.value.suggested_filename == "lambdaloss-2018.csv"
    assert report.value.path().read_text().startswith("table,row,column")


def _verdict(prepared: Prepared, experiment: str) -> str:
    tables = prepared.get(f"/v1/experiments/{experiment}")["report"]["tables"]
    claims = next(table["claims"] for table in tables if table["name"] == "table-5")
    return str(claims[0]["verdict"]).replace("-", " ")
