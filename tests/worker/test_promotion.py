"""Aliases that move through their gate, with trained models and held-out queries."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from app.models.alias_schemas import GateRequest
from app.models.promotion import gate_rule, promotion
from core.data import RankingDataset, synthetic_dataset
from core.errors import LeaseLost, WrongState
from core.store import AliasMove, Job
from tests.worker.inline_worker import SMALL, InlineWorker
from worker.job.run import JobRun
from worker.process.tasks import RUNNERS, record_outcome, run_runner

QUERIES, DOCUMENTS = 200, 15


def _synthetic(seed: int) -> RankingDataset:
    return synthetic_dataset(
        QUERIES, seed=seed, polynomial_seed=1, documents_per_query=DOCUMENTS, n_features=6
    )


@dataclass(frozen=True)
class Registry:
    """Versions 1 (good), 2 (trained on shuffled labels) and 3 (better) of `web`.

    Attributes:
        inline_worker: Worker whose store has the versions.
        training_id: Id of the training dataset of versions 1 and 3.
        judged_id: Id of the dataset for comparisons.
    """

    inline_worker: InlineWorker
    training_id: str
    judged_id: str

    def set_gate(self, **changed: Any) -> None:
        """Give the alias a gate."""
        request = GateRequest(dataset_id=self.judged_id, metric="ndcg@5", permutations=1000, **changed)
        with self.inline_worker.store.begin() as tx:
            rule = gate_rule(tx, request)
            tx.aliases.set_gate("web", "champion", dataset_id=self.judged_id, rule=rule)

    def point(self, version: int) -> None:
        """Move the alias without its gate."""
        with self.inline_worker.store.begin() as tx:
            tx.aliases.move("web", "champion", version)

    def queue(self, version: int) -> str:
        """Queue the promotion job of a version."""
        with self.inline_worker.store.begin() as tx:
            row, gate = tx.aliases.get("web", "champion"), tx.aliases.gate("web", "champion")
            return tx.enqueue(promotion(row, tx.models.resolve(f"web:{version}"), gate)).id

    def promote(self, version: int) -> Job:
        """Move the alias through its gate."""
        return self.inline_worker.run_queued(self.queue(version))

    def champion(self) -> int:
        """Return the version to which the alias points."""
        with self.inline_worker.store.read() as tx:
            return tx.models.resolve("web@champion").version

    def last_move(self) -> AliasMove:
        """Return the newest entry of the alias history."""
        with self.inline_worker.store.read() as tx:
            return tx.aliases.history("web", "champion", None, 1).items[0]


@pytest.fixture
def registry(inline_worker: InlineWorker) -> Registry:
    """The alias points to version 1 and has no gate."""
    data = _synthetic(1)
    shuffled = data.with_labels(np.random.default_rng(0).permutation(data.labels))
    train_id, noise_id = inline_worker.add(data, "train"), inline_worker.add(shuffled, "noise")
    inline_worker.training_result(train_id)
    inline_worker.training_result(noise_id)
    inline_worker.training_result(train_id, hyperparameters={**SMALL, "num_iterations": 40})
    registry = Registry(inline_worker, train_id, inline_worker.add(_synthetic(2), "judged"))
    registry.point(1)
    return registry


def test_a_gate_refuses_a_worse_model_and_admits_a_better_one(registry: Registry) -> None:
    """The refusal has the difference and the number of queries; the history has both reports."""
    registry.set_gate(require="better", max_slice_drop=0.5)
    refused = registry.promote(2)
    assert (refused.status, registry.champion()) == ("refused", 1)
    assert refused.problem is not None
    assert refused.problem["title"] == "Promotion refused"
    assert refused.problem["detail"].startswith("web:2 is worse than web:1 by ndcg@5: 0.")
    assert f"over {QUERIES} queries" in refused.problem["detail"]
    with registry.inline_worker.store.read() as tx:
        assert [attempt.ending for attempt in tx.jobs.attempts(refused.id)] == ["refused"]
        counted = {
            count.labels["ending"]
            for count in tx.counters.all()
            if count.labels.get("kind") == "promote" and "ending" in count.labels
        }
        (event,) = tx.events.after(0, 100, kinds=["job.ended"], object_id=refused.id)
    assert counted == {"refused"}
    assert event.data["status"] == "refused"
    line = registry.last_move()
    assert (line.kind, line.from_version, line.to_version, line.job_id) == ("refused", 1, 2, refused.id)
    assert line.report is not None
    assert line.report["sentence"] == refused.problem["detail"]
    assert line.report["paired"]["difference"] < 0.0
    assert line.report["slices"]
    promoted = registry.promote(3)
    assert (promoted.status, registry.champion()) == ("succeeded", 3), promoted.problem
    assert promoted.result is not None
    assert "web:3 is better than web:1" in promoted.result["sentence"]
    assert registry.last_move().kind == "promoted"
    with registry.inline_worker.store.begin() as tx:
        assert tx.aliases.roll_back("web", "champion").model.version == 1


def test_a_gate_may_require_better_than_baselines(registry: Registry) -> None:
    """A model no better than the baselines passes, with findings, unless the gate requires better ones."""
    with registry.inline_worker.store.read() as tx:
        noise_id = str(tx.models.resolve("web:2").dataset_id)
    registry.inline_worker.training_result(noise_id)
    for is_required, status in ((False, "succeeded"), (True, "refused")):
        registry.point(2)
        registry.set_gate(better_than_baselines=is_required)
        job = registry.promote(4)
        assert job.status == status, job.problem
        titles = [finding["title"] for finding in job.findings or ()]
        assert titles
        sentence = (job.problem or {}).get("detail") or (job.result or {})["sentence"]
        assert all((title in sentence) == is_required for title in titles)
    registry.point(2)
    assert registry.promote(3).status == "succeeded"


def test_an_equal_model_is_not_worse_and_not_better(registry: Registry) -> None:
    """The same trees pass a gate that requires `not_worse`, and fail one that requires `better`."""
    registry.inline_worker.training_result(registry.training_id)
    registry.set_gate(require="better")
    refused = registry.promote(4)
    assert refused.problem is not None
    assert refused.problem["detail"].startswith("there is no evidence that web:4 is better than web:1")
    registry.set_gate(require="not_worse")
    assert registry.promote(4).status == "succeeded"


def test_an_alias_that_was_moved_meanwhile_stays(registry: Registry) -> None:
    """A promotion fails if the alias has moved since the comparison, and the problem names the versions."""
    registry.set_gate()
    job_id = registry.queue(3)
    run = JobRun.claim_next(registry.inline_worker.store, registry.inline_worker.settings, RUNNERS, "w1")
    assert run is not None
    assert run.id == job_id
    registry.point(2)
    with pytest.raises(WrongState, match="alias web@champion is at version 2: it changed while") as moved:
        run_runner(run)
    assert record_outcome(run, moved.value) == "failed"
    with registry.inline_worker.store.read() as tx:
        problem = tx.jobs.get(job_id).problem
    assert problem is not None
    assert "while version 3 was compared with version 1; try again" in problem["detail"]
    assert (registry.champion(), registry.last_move().kind) == (2, "moved")


def test_a_promotion_that_lost_its_lease_moves_nothing(registry: Registry) -> None:
    """The move is part of the job's last transaction, which fails if the worker has lost its lease."""
    registry.set_gate()
    registry.queue(3)
    settings = registry.inline_worker.settings
    run = JobRun.claim_next(registry.inline_worker.store, settings, RUNNERS, "w1")
    assert run is not None
    with registry.inline_worker.store.begin() as tx:
        tx.jobs.release(run.id, run.lease.token)
        tx.jobs.claim(run.id, "w2", 30.0)
    with pytest.raises(LeaseLost):
        run_runner(run)
    assert (registry.champion(), registry.last_move().kind) == (1, "moved")


def test_a_gate_refuses_on_data_without_the_features(registry: Registry) -> None:
    """If most features are absent, the refusal has the counts; if few are, the alias moves, with findings."""
    inline_worker, judged = registry.inline_worker, _synthetic(2)
    for n_features, status in ((2, "refused"), (4, "succeeded")):
        narrow = judged.with_features(
            np.ascontiguousarray(judged.features[:, :n_features]), judged.feature_names[:n_features]
        )
        registry = Registry(
            inline_worker, registry.training_id, inline_worker.add(narrow, f"narrow {n_features}")
        )
        registry.set_gate()
        registry.point(1)
        job = registry.promote(3)
        assert job.status == status, job.problem
        report = registry.last_move().report
        assert report is not None
        if status == "refused":
            assert job.problem is not None
            assert job.problem["title"] == "Promotion refused"
            assert job.problem["detail"] == report["sentence"]
            assert "the dataset lacks 4 of the 5 features that web:1 uses" in report["sentence"]
            assert "allow_absent_features" not in report["sentence"]
            assert (registry.champion(), registry.last_move().kind) == (1, "refused")
        else:
            assert [f["title"] for f in report["findings"]] == [
                "2 of 5 features that web:1 uses are not in the dataset",
                "2 of 6 features that web:3 uses are not in the dataset",
            ]
            assert report["findings"] == job.findings


def test_a_gate_may_also_require_an_interleaving(registry: Registry) -> None:
    """A better model without an interleaving is refused; the detail has both reasons."""
    registry.set_gate(require="better", interleaving="better")
    refused = registry.promote(3)
    assert (refused.status, registry.champion()) == ("refused", 1)
    assert refused.problem is not None
    first, second = refused.problem["detail"].split("; ", 1)
    assert first.startswith("web:3 is better than web:1")
    assert second.startswith("no interleaving compares web:3 with web:1")
