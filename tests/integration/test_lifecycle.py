"""Deletions whose service is killed at random moments: nothing may be half-deleted, nothing orphaned."""

import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from core.store import Store, StoreSettings
from core.store.artifacts.inventory import take_inventory
from tests.integration.lifecycle_records import Numbers, faults, fill, settled
from tests.integration.services import Service

KILLS = int(os.environ.get("RANKERY_TEST_KILLS", "2"))
NUMBERS = Numbers(jobs=300, models=100, young_jobs=20, iterations=5)
LATEST_SECONDS = 1.5
SETTLE_SECONDS = 60.0


@pytest.mark.parametrize("moment", range(KILLS))
def test_a_killed_deletion_leaves_nothing_half_done(
    serve: Callable[..., Service], tmp_path: Path, moment: int
) -> None:
    """After SIGKILL each job is there with all that came of it, or not at all; the rest can be deleted."""
    data_dir = tmp_path / "data"
    settings = StoreSettings(data_dir=data_dir)
    store = Store.open(settings)
    store.migrate()
    fill(store, settings, NUMBERS)
    service = serve(data_dir)
    url = service.started()
    # Every second deletion goes by the trash, which is emptied at once.
    permanently = moment % 2 == 0
    deletion = threading.Thread(target=_delete, args=(url,), kwargs={"permanently": permanently})
    deletion.start()
    time.sleep((moment + random.random()) * LATEST_SECONDS / KILLS)
    service.popen.kill()
    service.ended()
    deletion.join()

    again = serve(data_dir)
    url = again.started()
    assert settled(store, SETTLE_SECONDS)
    assert faults(store, settings, NUMBERS) == []
    _delete(url, permanently=True)
    assert faults(store, settings, NUMBERS) == []
    with httpx.Client(base_url=url) as client:
        kinds = {kind["kind"]: kind for kind in client.get("/v1/storage?refresh=true").json()["kinds"]}
    assert (kinds["jobs"]["objects"], kinds["models"]["objects"]) == (NUMBERS.young_jobs, 0)
    found = take_inventory(store)
    assert (found.missing, found.damaged, found.orphaned) == ([], [], [])
    store.close()


def _delete(url: str, *, permanently: bool) -> None:
    body = {"filter": {"older_than_days": 30}, "with_results": True, "dry_run": False}
    with httpx.Client(base_url=url, timeout=60) as client, suppress(httpx.HTTPError):
        client.post("/v1/jobs/delete", json=body | {"permanently": permanently})
        client.post("/v1/trash/empty", json={"all": True})
