"""Aliases that move by the verdict of an interleaving, without a dataset or scoring."""

from collections.abc import Sequence
from typing import Any

import pytest

from app.models.alias_schemas import GateRequest
from app.models.promotion import gate_rule, promotion
from core.store import Job, Model, new_id
from core.store.clock import utc_now
from tests.worker.inline_worker import InlineWorker


@pytest.fixture
def models(inline_worker: InlineWorker) -> list[Model]:
    """Two versions, the first of which is the champion."""
    with inline_worker.store.begin() as tx:
        dataset = tx.datasets.add("none", {"kind": "synthetic", "queries": 1, "seed": 0})
        job = tx.jobs.add("import-model", {})
        rows: dict[str, Any] = {"name": "web", "job_id": job.id, "dataset_id": dataset.id, "loss": {}}
        rows |= {"feature_names": ["a"], "hyperparameters": {}, "best_iteration": 1}
        models = [tx.models.add(**rows, sha256="0" * 64, size_bytes=1) for _ in range(2)]
        tx.aliases.move("web", "champion", 1)
    return models


def interleave(
    inline_worker: InlineWorker, models: Sequence[Model], credits: Sequence[float], lists: int
) -> None:
    """Record an interleaving in which all users have the same credits."""
    options = {"method": "team_draft", "length": 2, "seed": 1, "unit": "user", "click_window_seconds": 0}
    rule = {"error": 0.05, "miss": 0.2, "difference": 0.2}
    names, ids = [model.reference for model in models], [model.id for model in models]
    content = {"query": "q", "documents": ["d", "e"], "teams": [0, 1], "rankers": 2}
    with inline_worker.store.begin() as tx:
        interleaving = tx.interleavings.add(name="x", rankers=names, model_ids=ids, rule=rule, **options)
        rows = [
            {"id": new_id("lst_"), "interleaving_id": interleaving.id, "assignment": str(n)}
            | {"user": f"u{n}", "content": content, "created_at": utc_now()}
            for n in range(lists)
        ]
        tx.interleavings.add_lists(rows)
        for row in rows:
            shown = tx.interleavings.shown_list(interleaving.id, str(row["id"]))
            tx.interleavings.record_clicks(shown, [index for index, each in enumerate(credits) if each])


def promote(inline_worker: InlineWorker, **gate: Any) -> Job:
    """Move the alias to version 2 through a gate."""
    with inline_worker.store.begin() as tx:
        rule = gate_rule(tx, GateRequest(**gate))
        tx.aliases.set_gate("web", "champion", dataset_id=None, rule=rule)
        row, gate_row = tx.aliases.get("web", "champion"), tx.aliases.gate("web", "champion")
        job = tx.enqueue(promotion(row, tx.models.resolve("web:2"), gate_row))
    return inline_worker.run_queued(job.id)


def test_the_alias_moves_when_users_prefer_the_challenger(
    inline_worker: InlineWorker, models: list[Model]
) -> None:
    """The newest interleaving decides; the history has the sentence."""
    refused = promote(inline_worker, interleaving="better")
    assert refused.status == "refused"
    assert "create an interleaving of both models" in str(refused.problem)
    interleave(inline_worker, models, [1.0, 0.0], 60)
    refused = promote(inline_worker, interleaving="not_worse")
    assert refused.problem is not None
    assert refused.problem["detail"].startswith("users prefer web:1 to web:2: ")
    interleave(inline_worker, models[::-1], [0.0, 0.0], 2)
    assert promote(inline_worker, interleaving="better").status == "refused"
    interleave(inline_worker, models[::-1], [1.0, 0.0], 60)
    promoted = promote(inline_worker, interleaving="better")
    assert promoted.status == "succeeded", promoted.problem
    with inline_worker.store.read() as tx:
        assert tx.models.resolve("web@champion").version == 2
        report = tx.aliases.history("web", "champion", None, 1).items[0].report
    assert report is not None
    assert report["sentence"].startswith("users prefer web:2 to web:1: ")
    assert report["paired"] is None
