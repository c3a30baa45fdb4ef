"""Every upgrade and downgrade, one at a time, in a database with rows in each of its tables."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from core.store import Store, StoreSettings
from core.store.engines import for_writing, open_engine
from core.store.schema import migrations_config
from core.store.tables import Base

MOMENT = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
Row = dict[str, Any]

# Rows for the new tables of each revision; columns that a later revision adds stay empty.
ROWS: dict[str, dict[str, list[Row]]] = {
    "0001": {
        "jobs": [
            {
                "id": "job_1",
                "kind": "train",
                "status": "succeeded",
                "spec": {"seed": 1},
                "attempt": 1,
                "token": 1,
            }
            | {"cancel_requested": False, "created_at": MOMENT, "result": {"model_id": "mdl_1"}},
            {"id": "job_2", "kind": "train", "status": "running", "spec": {}, "attempt": 2, "token": 3}
            | {"cancel_requested": True, "created_at": MOMENT, "worker": "w", "lease_expires_at": MOMENT},
        ],
        "job_iterations": [{"job_id": "job_1", "iteration": 1, "values": {"train": {"loss": 0.5}}}],
        "datasets": [
            {"id": f"ds_{status}", "name": "web", "status": status, "source": {"kind": "upload"}}
            | {"created_at": MOMENT, "updated_at": MOMENT, "job_id": "job_1", "size_bytes": 2**40}
            for status in ("ready", "pending")
        ],
        "job_datasets": [{"job_id": "job_2", "dataset_id": "ds_ready"}],
        "models": [
            {"id": "mdl_1", "name": "web", "version": 3, "job_id": "job_1", "dataset_id": "ds_ready"}
            | {"feature_names": ["a"], "loss": {"name": "lambdarank"}, "hyperparameters": {}}
            | {"best_iteration": 7, "sha256": "0" * 64, "size_bytes": 2**33, "created_at": MOMENT}
        ],
        "model_aliases": [{"name": "web", "alias": "best", "model_id": "mdl_1", "updated_at": MOMENT}],
        "evaluations": [
            {"id": "evl_1", "job_id": "job_1", "model_id": "mdl_1", "dataset_id": "ds_ready"}
            | {"summaries": {"ndcg@10": {"mean": 0.5}}, "created_at": MOMENT}
        ],
        "rankings": [
            {"id": "rnk_1", "job_id": "job_1", "model_id": "mdl_1", "dataset_id": "ds_ready"}
            | {"queries": 3, "documents": 2**33, "created_at": MOMENT}
        ],
        "idempotency_records": [
            {"key": "k", "endpoint": "POST /v1/jobs", "request_sha256": "0" * 64, "status_code": 202}
            | {"body": {}, "headers": {}, "created_at": MOMENT}
        ],
    },
    "0003": {
        "comparisons": [
            {"id": "cmp_1", "job_id": "job_1", "dataset_id": "ds_ready", "sentence": "b is better than a."}
            | {"systems": [], "metrics": ["ndcg@10"], "contract": {}, "permutations": 10, "seed": 1}
            | {"pairs": [], "created_at": MOMENT}
        ]
    },
    "0004": {
        "job_attempts": [{"job_id": "job_2", "token": 3, "attempt": 2, "worker": "w", "started_at": MOMENT}],
        "api_keys": [
            {"id": "key_1", "name": "ours", "secret_sha256": "0" * 64, "hint": "rk_ab", "scopes": ["read"]}
            | {"created_at": MOMENT, "max_stored_bytes": 2**40}
        ],
        "sessions": [
            {"token_sha256": "0" * 64, "key_id": "key_1", "created_at": MOMENT, "expires_at": MOMENT}
        ],
        "audit_entries": [
            {"id": "aud_1", "at": MOMENT, "method": "POST", "path": "/v1/jobs", "status": 202}
            | {"request_id": "r"}
        ],
        "tallies": [{"name": "leases_lost", "labels": "{}", "value": 2.5}],
    },
    "0005": {
        "alias_moves": [
            {"id": "mov_1", "name": "web", "alias": "best", "kind": "refused", "from_version": 3}
            | {"to_version": 4, "report": {"admitted": False}, "at": MOMENT}
        ],
        "alias_gates": [
            {"name": "web", "alias": "best", "dataset_id": "ds_ready", "rule": {"metric": "ndcg@10"}}
            | {"updated_at": MOMENT}
        ],
    },
    "0006": {
        "inspections": [
            {"id": "ins_1", "job_id": "job_1", "model_id": "mdl_1", "dataset_id": "ds_ready"}
            | {"metric": "ndcg@10", "contract": {}, "baseline": {"mean": 0.5}, "repeats": 5, "seed": 1}
            | {"within": "query", "importance": [], "partial_dependence": [], "sample": 10}
            | {"created_at": MOMENT}
        ]
    },
    "0007": {
        "workers": [
            {"name": "host:1", "lane": "quick", "processes": 1, "started_at": MOMENT, "seen_at": MOMENT}
            | {"expires_at": MOMENT}
        ]
    },
    "0020": {
        "studies": [
            {"id": "std_1", "name": "leaves", "model_name": "web", "dataset_id": "ds_ready"}
            | {"status": "running", "spec": {"seed": 1}, "trials": 50, "seconds": 0.5, "parallel_trials": 2}
            | {"paused_seconds": 0.0, "created_at": MOMENT}
        ],
        "trials": [
            {"study_id": "std_1", "number": 0, "status": "succeeded", "source": "default", "value": 0.5}
            | {"parameters": {}, "interval": [0.4, 0.6], "curve": [[1.0, 0.4]], "job_id": "job_1"}
            | {"created_at": MOMENT}
        ],
    },
    "0021": {
        "experiments": [
            {"id": "exp_1", "paper": "lambdaloss-2018", "tables": ["table-4"], "scale": "quick"}
            | {"data": "synthetic", "folds": [], "dry_run": False, "status": "running"}
            | {"datasets": [], "reported_tables": 0, "created_at": MOMENT, "updated_at": MOMENT}
        ],
        "experiment_trainings": [
            {"experiment_id": "exp_1", "digest": "d", "fold": 0, "place": 0, "sharing_key": "s"}
            | {"spec": {"seed": 1}, "job_id": "job_1", "needs_training_values": False, "is_shared": False}
        ],
    },
    "0023": {
        "model_names": [{"name": "kept", "last_version": 7}],
        "pending_deletions": [{"folder": "models/mdl_gone", "at": MOMENT}],
        "compared_systems": [{"comparison_id": "cmp_1", "system_id": "mdl_1"}],
    },
    "0024": {
        "events": [
            {"id": 2**31 - 1, "at": MOMENT, "kind": "job.ended", "object_kind": "job", "object_id": "job_1"}
            | {"data": {"status": "succeeded"}}
        ],
        "webhooks": [
            {"id": "whk_1", "url": "https://example.com/", "events": ["job.ended"], "enabled": True}
            | {"secret": "whsec_", "dispatched_id": 2**33, "created_at": MOMENT, "updated_at": MOMENT}
        ],
        "webhook_deliveries": [
            {"id": "dlv_1", "webhook_id": "whk_1", "event_id": 2**31 - 1, "object_id": "job_1"}
            | {"state": "waiting", "attempts": 1, "claim": 1, "created_at": MOMENT, "log": []}
        ],
    },
    "0025": {
        "schedules": [
            {"id": "sch_1", "name": "nightly", "cron": "0 3 * * *", "timezone": "UTC", "enabled": True}
            | {"job": {"kind": "train"}, "spec": {"seed": 1}, "only_new_data": False, "next_run_at": MOMENT}
            | {"created_at": MOMENT, "updated_at": MOMENT}
        ],
        "schedule_runs": [
            {"id": "run_1", "schedule_id": "sch_1", "due_at": MOMENT, "trigger": "clock"}
            | {"status": "promoted", "datasets": {"train": "ds_ready"}, "created_at": MOMENT}
        ],
    },
    "0026": {
        "score_samples": [
            {"id": "smp_1", "models": ["web"], "requests": 3, "size_bytes": 2**40, "first_at": MOMENT}
            | {"last_at": MOMENT}
        ],
        "drift_reports": [
            {"id": "drf_1", "job_id": "job_1", "model_id": "mdl_1", "model": "web:3", "name": "web"}
            | {"days": 7.0, "since": MOMENT, "until": MOMENT, "verdict": "drift", "sentence": "s"}
            | {"requests": 3, "queries": 3, "documents": 9, "drifted_features": ["bm25"]}
            | {"thresholds": {"psi": 0.2}, "comparisons": [], "created_at": MOMENT}
        ],
    },
    "0027": {
        "uploads": [
            {"id": "upl_1", "metadata_header": "", "size_bytes": 2**40, "received_bytes": 2**33}
            | {"expires_at": MOMENT, "created_at": MOMENT}
        ],
        "upload_parts": [{"upload_id": "upl_1", "start": 2**33, "size_bytes": 7, "name": "8589934592-w"}],
    },
    "0032": {
        "candidates": [
            {"job_id": "job_1", "number": 0, "name": "linear by lambdarank", "training": {"loss": {}}}
            | {"status": "complete", "value": 0.5, "interval": [0.4, 0.6], "folds": 5, "planned_folds": 5}
            | {"iterations": 7, "seconds": 1.5, "weight": 1.0, "size_bytes": 2**20, "tied_with_best": True}
        ],
    },
    "0034": {
        "click_logs": [
            {"id": "clk_1", "name": "clicks", "status": "ready", "source": {"kind": "upload"}}
            | {"job_id": "job_1", "size_bytes": 2**40, "folder": "click-logs/clk_1/job_1-1"}
            | {"statistics": {"lists": 3}, "findings": [], "created_at": MOMENT, "updated_at": MOMENT}
        ],
    },
    "0035": {
        "interleavings": [
            {"id": "itl_1", "name": "web", "rankers": ["web:1", "web:2"], "model_ids": ["mdl_1", "mdl_2"]}
            | {"method": "team_draft", "length": 10, "seed": 7, "unit": "user", "click_window_seconds": 1800}
            | {"rule": {"error": 0.05, "miss": 0.2, "difference": 0.05}, "created_at": MOMENT}
        ],
        "interleaved_lists": [
            {"id": "lst_1", "interleaving_id": "itl_1", "assignment": "a", "user": "u", "clicks": [0]}
            | {"content": {"documents": ["d1"], "teams": [0], "rankers": 2}, "credits": [1.0, 0.0]}
            | {"created_at": MOMENT}
        ],
    },
    "0036": {
        "served_rankings": [
            {"id": "srv_1", "name": "web", "version": 3, "user": "0" * 32, "created_at": MOMENT}
            | {"content": {"query": "q", "documents": ["a", "b"]}}
        ],
        "served_events": [{"ranking_id": "srv_1", "place": 1, "action": "click", "at": MOMENT}],
        "hash_keys": [{"name": "users", "key": "0" * 64}],
    },
}


class Database:
    """A test database that can be migrated to any revision."""

    def __init__(self, connection: sa.Connection, script: ScriptDirectory) -> None:
        self._connection = connection
        self._config = migrations_config()
        self._config.attributes["connection"] = connection
        self.revisions = [step.revision for step in reversed(list(script.walk_revisions()))]
        self._known_tables: dict[str, sa.TableClause] | None = None

    def upgrade(self, revision: str) -> None:
        """Upgrade by one or more revisions."""
        self._known_tables = None
        command.upgrade(self._config, revision)

    def downgrade(self, revision: str) -> None:
        """Downgrade by one or more revisions."""
        self._known_tables = None
        command.downgrade(self._config, revision)

    def fill(self, rows: dict[str, list[Row]]) -> None:
        """Add rows."""
        tables = self._tables()
        for name, values in rows.items():
            for row in values:
                self._connection.execute(tables[name].insert().values(**self._bound(row)))

    def rows(self) -> dict[str, list[Row]]:
        """Return all rows by table."""
        return {
            name: sorted((dict(row) for row in self._connection.execute(table.select()).mappings()), key=repr)
            for name, table in self._tables().items()
        }

    def _tables(self) -> dict[str, sa.TableClause]:
        if self._known_tables is None:
            self._known_tables = self._found_tables()
        return self._known_tables

    def _found_tables(self) -> dict[str, sa.TableClause]:
        # Keys and indexes are not reflected, since they take most of the time.
        found = sa.inspect(self._connection).get_multi_columns()
        return {
            name: sa.table(name, *(sa.column(each["name"], each["type"]) for each in columns))
            for (_, name), columns in found.items()
            if name != "alembic_version"
        }

    def _bound(self, row: Row) -> Row:
        if self._connection.dialect.name == "postgresql":
            return row
        return {
            name: value.replace(tzinfo=None) if isinstance(value, datetime) else value
            for name, value in row.items()
        }


@pytest.fixture(scope="module")
def script() -> ScriptDirectory:
    """The migration scripts, read once; Alembic would read them again for each step."""
    return ScriptDirectory.from_config(migrations_config())


@pytest.fixture
def database(
    unmigrated_settings: StoreSettings, script: ScriptDirectory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Database]:
    """An empty database."""
    monkeypatch.setattr(ScriptDirectory, "from_config", lambda _: script)
    engine = open_engine(unmigrated_settings.database_url)
    with for_writing(engine).begin() as connection:
        yield Database(connection, script)
    engine.dispose()


def assert_kept(before: dict[str, list[Row]], after: dict[str, list[Row]]) -> None:
    """Require equal values in all columns that exist before and after."""
    for table in before.keys() & after.keys():
        shared = [name for name in before[table][0] if name in after[table][0]] if after[table] else []
        pairs = zip(_with_columns(before[table], shared), _with_columns(after[table], shared), strict=True)
        for row, kept in pairs:
            assert row == kept, table


def _with_columns(rows: list[Row], names: list[str]) -> list[Row]:
    return sorted(({name: row[name] for name in names} for row in rows), key=repr)


@pytest.mark.long
def test_upgrades_and_downgrades_keep_values_of_shared_columns(database: Database) -> None:
    """No step loses a value whose column exists on both sides, and a downgraded database can be upgraded."""
    before: dict[str, list[Row]] = {}
    for revision in database.revisions:
        database.upgrade(revision)
        after = database.rows()
        assert_kept(before, after)
        if revision in ROWS:
            database.fill(ROWS[revision])
            after = database.rows()
        before = after
        assert all(before.values()), f"{revision} has a table that this test gives no rows"
    head = before
    for revision in reversed(database.revisions[:-1]):
        database.downgrade(revision)
        after = database.rows()
        assert_kept(before, after)
        before = after
    database.upgrade("head")
    again = database.rows()
    assert_kept(before, again)
    assert again.keys() == head.keys()
    database.downgrade("base")
    assert database.rows() == {}
    database.upgrade("head")
    assert database.rows() == {table: [] for table in Base.metadata.tables}


def test_an_imported_model_survives_a_downgrade(database: Database) -> None:
    """A release before revision 0005 reads the model with an empty dataset, loss and hyperparameters."""
    database.upgrade("head")
    (trained,) = ROWS["0001"]["models"]
    absent = {name: sa.null() for name in ("dataset_id", "loss", "hyperparameters")}
    database.fill({"jobs": ROWS["0001"]["jobs"], "models": [{**trained, **absent}]})
    database.downgrade("0004")
    (model,) = database.rows()["models"]
    assert (model["dataset_id"], model["loss"], model["hyperparameters"]) == ("", {}, {})
    database.upgrade("head")
    assert [row["id"] for row in database.rows()["models"]] == [trained["id"]]


def test_main_metric_of_trainings_is_the_validation_value(database: Database) -> None:
    """The upgrade sets it where validation was measured; the downgrade restores the test value."""
    database.upgrade("0017")
    shared = {
        "status": "succeeded",
        "attempt": 1,
        "token": 1,
        "cancel_requested": False,
        "created_at": MOMENT,
    }
    both = {"test": {"ndcg@10": 0.5, "map": 0.3}, "validation": {"ndcg@10": 0.6, "map": 0.4}}
    spec = {"metrics": ["ndcg@10"], "early_stopping": {"metric": "map"}}
    jobs = {
        "job_1": ("train", spec, both),
        "job_2": ("train", {"metrics": ["map"]}, {"test": both["test"]}),
        "job_3": ("evaluate", {"metrics": ["ndcg@10"]}, both),
        "job_4": ("train", spec, None),
    }
    rows = [
        {"id": job_id, "kind": kind, "spec": job_spec, "metrics": metrics, "main_metric": 0.3, **shared}
        for job_id, (kind, job_spec, metrics) in jobs.items()
    ]
    database.fill({"jobs": rows})
    database.upgrade("0019")
    assert [row["main_metric"] for row in _by_id(database)] == [0.4, 0.3, 0.3, 0.3]
    database.downgrade("0017")
    assert [row["main_metric"] for row in _by_id(database)] == [0.3] * len(jobs)


def test_refused_jobs_no_longer_count_as_failed(database: Database) -> None:
    """A promotion refused before the status `refused` existed gets it; other failures stay failures."""
    shared = {"status": "failed", "spec": {}, "attempt": 1, "token": 1, "cancel_requested": False}
    shared |= {"priority": 0, "created_at": MOMENT, "kind": "promote"}
    database.upgrade("0028")
    jobs = [{"id": f"job_{name}", **shared} for name in ("broken", "refused")]
    attempts = [
        {
            "job_id": job["id"],
            "token": 1,
            "attempt": 1,
            "worker": "w",
            "started_at": MOMENT,
            "ending": "failed",
        }
        for job in jobs
    ]
    move = {
        "id": "mov_1",
        "name": "web",
        "alias": "best",
        "kind": "refused",
        "job_id": "job_refused",
        "at": MOMENT,
    }
    database.fill({"jobs": jobs, "job_attempts": attempts, "alias_moves": [move]})
    for revision, status in (("0029", "refused"), ("0028", "failed")):
        (database.upgrade if status == "refused" else database.downgrade)(revision)
        assert [row["status"] for row in _by_id(database)] == ["failed", status]
        endings = {row["job_id"]: row["ending"] for row in database.rows()["job_attempts"]}
        assert endings == {"job_broken": "failed", "job_refused": status}


def _by_id(database: Database) -> list[Row]:
    return sorted(database.rows()["jobs"], key=lambda row: str(row["id"]))


@pytest.mark.long
def test_rows_from_the_first_release_can_be_shown(
    unmigrated_settings: StoreSettings, script: ScriptDirectory
) -> None:
    """Rows of the first revision are read as current rows."""
    engine = open_engine(unmigrated_settings.database_url)
    with for_writing(engine).begin() as connection:
        database = Database(connection, script)
        database.upgrade("0001")
        database.fill(ROWS["0001"])
        database.upgrade("head")
    engine.dispose()
    store = Store.open(unmigrated_settings)
    with store.begin() as tx:
        ready, pending = tx.datasets.get("ds_ready"), tx.datasets.get("ds_pending")
        assert (ready.data_key, ready.digest, ready.findings) == (
            "datasets/ds_ready/data.parquet",
            None,
            None,
        )
        assert (pending.data_key, ready.key_id) == (None, None)
        job = tx.jobs.get("job_1")
        assert (job.priority, job.key_id, job.checkpoint) == (0, None, None)
        assert (job.created_at, job.spec, job.findings) == (MOMENT, {"seed": 1}, None)
        model = tx.models.resolve("web@best")
        assert (model.size_bytes, model.source, model.tags, model.lineage) == (2**33, "trained", None, None)
        assert (model.dataset_id, model.loss, model.hyperparameters) == (
            "ds_ready",
            {"name": "lambdarank"},
            {},
        )
        assert (tx.evaluations.get("evl_1").system, tx.evaluations.get("evl_1").baselines) == ("web:3", None)
        assert tx.rankings.get("rnk_1").system == "web:3"
        (running,) = tx.jobs.running_on("")
        ended = tx.jobs.recover(running, 3)
        assert ended is not None
        assert (ended.id, ended.status) == ("job_2", "cancelled")
    store.close()
