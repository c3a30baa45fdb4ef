"""Pages of registry jobs: promotions, reproductions and imports."""

from typing import Any

import pytest
from playwright.sync_api import expect

from core.store import Store
from tests.browser.recorded.conftest import Make, OnRecord
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

PROMOTE = {
    "kind": "promote",
    "model_name": "web",
    "alias": "champion",
    "systems": [{"model_id": "mdl_1", "system": "web:3"}, {"model_id": "mdl_2", "system": "web:4"}],
    "dataset_id": "ds_1",
    "rule": {"metric": "ndcg@10", "require": "better"},
}
REFUSED = "web:4 is worse than web:3 by ndcg@10: 0.4120 against 0.4310, p = 0.0030, over 600 queries"


def finished_job(spec: dict[str, Any], *, result: Any = None, refusal: Any = None) -> Make:
    """Return a function that records a finished job in one transaction, so that no worker claims it."""

    def make(store: Store) -> str:
        with store.begin() as tx:
            job_id = tx.jobs.add(spec["kind"], spec).id
            claimed = tx.jobs.claim(job_id, "trainer-1:41/57", 3600.0)
            assert claimed is not None
            if refusal:
                tx.jobs.refuse(job_id, claimed.token, refusal)
            else:
                tx.jobs.succeed(job_id, claimed.token, result)
        return job_id

    return make


def imported(store: Store) -> str:
    """Record an imported model with its job."""
    spec = {"kind": "import-model", "model_name": "elsewhere", "upload_id": "mup_1"}
    job_id = finished_job(spec, result={"model_id": "mdl_1"})(store)
    with store.begin() as tx:
        tx.models.add(
            name="elsewhere",
            job_id=job_id,
            feature_names=["bm25"],
            best_iteration=3,
            sha256="0" * 64,
            size_bytes=10,
        )
    return job_id


def test_a_promotion_shows_its_reason(visit: Visit, on_record: OnRecord) -> None:
    """The page shows the sentence of the gate, both for a refusal and for a promotion."""
    refused = on_record(
        "refused", finished_job(PROMOTE, refusal={"title": "Promotion refused", "detail": REFUSED})
    )
    page = visit.open(f"/jobs/{refused}")
    expect(page.locator("h1")).to_have_text("web:4 for @champion")
    expect(page.locator(".job-problem")).to_contain_text(f"Promotion refused{REFUSED}")
    expect(page.locator(".job-heading .status")).to_have_text("refused")
    visit.photograph("promotion-refused")
    sentence = "web:4 is better than web:3 by ndcg@10: 0.4510 against 0.4310, p = 0.0030, over 600 queries"
    promoted = on_record(
        "promoted", finished_job(PROMOTE, result={"model_id": "mdl_2", "sentence": sentence})
    )
    page = visit.open(f"/jobs/{promoted}")
    expect(page.locator(".job-problem")).to_have_text(f"{sentence}.")
    page = visit.open("/jobs?kind=promote")
    expect(page.locator("#jobs")).to_contain_text("Promotion")


def test_a_reproduction_shows_its_outcome(visit: Visit, on_record: OnRecord) -> None:
    """The page of a reproduction states an identical file, or the changed package versions."""
    spec = {"kind": "reproduce", "system": "web:3", "model_id": "mdl_1", "loss": {"name": "lambdarank"}}
    sums = {"sha256": "0" * 64, "expected_sha256": "0" * 64, "stored_sha256": "0" * 64}
    same = on_record("same", finished_job(spec, result={"equal": True, "differences": [], **sums}))
    page = visit.open(f"/jobs/{same}")
    expect(page.locator("h1")).to_have_text("web:3")
    expect(page.locator(".job-problem")).to_have_text("The model file is identical.")
    changed = [{"what": "numpy", "then": "2.3.1", "now": "2.4.0"}]
    other = on_record(
        "other",
        finished_job(spec, result={**sums, "equal": False, "differences": changed, "sha256": "1" * 64}),
    )
    page = visit.open(f"/jobs/{other}")
    expect(page.locator(".job-problem")).to_have_text("The model file differs; numpy 2.3.1 then, 2.4.0 now.")
    visit.photograph("reproduced")


def test_an_imported_model_is_in_the_list(visit: Visit, on_record: OnRecord) -> None:
    """An imported model is listed without loss and dataset, and its job names the import."""
    job_id = on_record("imported", imported)
    page = visit.open("/models?prefix=elsewhere")
    expect(page.locator("[data-model]")).to_contain_text("imported")
    page = visit.open(f"/jobs/{job_id}")
    expect(page.locator("h1")).to_have_text("elsewhere")
    expect(page.locator("#job")).to_contain_text("Importing a model")
