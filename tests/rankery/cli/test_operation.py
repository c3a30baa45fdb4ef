"""Commands for the operation of a service, with one real service for all tests."""

import http.server
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from rankery.embedded.stack import EmbeddedStack
from tests.rankery.cli.commands import JUDGED, Done, ids, run, start_command

QUICK = ("--set", "num_iterations=5", "--set", "min_data_in_leaf=2", "--no-auto")


@pytest.fixture(scope="module")
def trained(stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A training with a dataset, `orders.txt`, and a model, `ops:1`."""
    file = tmp_path_factory.mktemp("files") / "orders.txt"
    file.write_text(JUDGED.replace("qid:", "qid:7"))
    done = rankery(stack, "train", file, "--name", "ops", *QUICK, "--json")
    assert done.code == 0, done.errors
    document: dict[str, Any] = done.document
    return document | {"file": file}


def rankery(stack: EmbeddedStack, *arguments: str | Path) -> Done:
    """Run a command on the shared service, in a terminal that does not wrap URLs."""
    return run(*arguments, "--data-dir", stack.data_dir, NO_COLOR="1", COLUMNS="160")


def test_gates_are_set_listed_and_deleted(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Gates are given by alias, and a name without an alias is refused."""
    assert rankery(stack, "models", "promote", "ops:1", "--json").document["promoted"] is True
    created = rankery(
        stack, "gates", "set", "ops@champion", "--dataset", "orders.txt", "--require", "better", "--json"
    )
    assert (created.document["alias"], created.document["require"]) == ("champion", "better")
    (listed,) = rankery(stack, "gates", "list", "--name", "ops", "--json").document
    assert listed == rankery(stack, "gates", "show", "ops@champion", "--json").document
    gate_set = rankery(
        stack,
        *("gates", "set", "ops@champion", "--dataset", "orders.txt", "--better-than-baselines"),
        *("--max-segment-drop", "0.02"),
    )
    assert (
        "ops@champion moves only to versions that are not worse by ndcg@10, and better than b"
        in gate_set.errors
    )
    assert gate_set.sentence.endswith(" and fall by at most 0.02 in each segment")
    assert "better than baselines" in rankery(stack, "gates", "show", "ops@champion").output
    assert "not worse, beats baselines" in rankery(stack, "gates", "list", "--name", "ops").output
    assert rankery(stack, "gates", "show", "ops").code == 2
    assert rankery(stack, "gates", "delete", "ops@champion").code == 0
    assert rankery(stack, "gates", "list", "--name", "ops", "--json").document == []
    assert rankery(stack, "gates", "show", "ops@champion").sentence == "there is no gate of 'ops@champion'"


def test_a_gate_estimates_from_clicks(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """A gate without judgments shows its click log and estimator, and holds the log."""
    dataset_id = trained["job"]["spec"]["dataset_id"]
    simulate = ("click-logs", "simulate", dataset_id, "--name", "seen", "--model", "ops", "--lists", "300")
    log_id = rankery(stack, *simulate, "--json").document["id"]
    rule = {"click_log_id": log_id, "dataset_id": dataset_id, "metric": "dcg@3"}
    rule |= {"estimator": "examination", "examination": [1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2]}
    assert rankery(stack, "models", "promote", "ops:1", "--alias", "seen").code == 0
    gate_set = rankery(stack, "gates", "set", "ops@seen", "--counterfactual", json.dumps(rule))
    assert "ops@seen moves only to versions that pass an estimate from clicks" in gate_set.errors
    shown = rankery(stack, "gates", "show", "ops@seen", "--json").document["counterfactual"]
    assert shown | rule == shown
    assert "dcg@3 by examination" in rankery(stack, "gates", "show", "ops@seen").output
    assert "better, estimated" in rankery(stack, "gates", "list", "--name", "ops").output
    refused = rankery(stack, "click-logs", "delete", "seen")
    assert "ops@seen" in refused.sentence
    assert rankery(stack, "gates", "delete", "ops@seen").code == 0
    assert rankery(stack, "gates", "set", "ops@seen", "--counterfactual", "[1]").code == 2


def test_a_gate_without_a_dataset_shows_what_users_decide(
    trained: dict[str, Any], stack: EmbeddedStack
) -> None:
    """The requirement is that of the interleaving; the unused one on a dataset is not shown."""
    assert rankery(stack, "models", "promote", "ops:1", "--alias", "users").code == 0
    assert rankery(stack, "gates", "set", "ops@users", "--interleaving", "better").code == 0
    assert "better by interleaving" in rankery(stack, "gates", "list", "--name", "ops").output
    shown = rankery(stack, "gates", "show", "ops@users").output
    assert "require" not in shown
    assert "not worse" not in shown
    assert rankery(stack, "gates", "delete", "ops@users").code == 0


def test_labels_are_set_and_shown(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Labels are set on a model, a job and a dataset, and an empty text removes one."""
    job, dataset = trained["job"]["id"], trained["job"]["spec"]["dataset_id"]
    for change in (("--set", "team=search", "--set", "stage=draft"), ("--remove", "stage")):
        assert rankery(stack, "models", "label", "ops:1", *change, "--json").document["changed"] == 1
    labels = rankery(stack, "models", "label", "ops:1", "--json").document
    assert (labels["team"], "stage" in labels) == ("search", False)
    assert rankery(stack, "jobs", "label", job, "--set", "night=1", "--json").document["changed"] == 1
    assert rankery(stack, "jobs", "label", job, "--json").document["night"] == "1"
    described = rankery(
        stack, "models", "describe", "ops:1", "--text", "By hand", "--name", "May", "--json"
    ).document
    assert (described["description"], described["title"]) == ("By hand", "May")
    assert rankery(stack, "models", "describe", "ops:1", "--name", "", "--json").document.get("title") is None
    assert rankery(stack, "jobs", "describe", job, "--text", "Notes", "--json").document["notes"] == "Notes"
    assert (
        rankery(stack, "datasets", "describe", dataset, "--project", "shop", "--json").document["project"]
        == "shop"
    )
    projects = rankery(stack, "projects", "list", "--json").document
    assert ("shop", 1) in [(one["name"], one["datasets"]) for one in projects["items"]]
    for project, is_listed in (("shop", True), ("-", False)):
        listed = rankery(stack, "datasets", "list", "--project", project, "--json").document
        assert (dataset in ids(listed)) == is_listed
    assert rankery(stack, "datasets", "describe", dataset, "--text", "x").code == 2
    assert rankery(stack, "models", "label", "ops:1", "--set", "a=b", "--remove", "a").code == 2
    rankery(stack, "datasets", "describe", "orders.txt", "--project", "")
    tried = rankery(
        stack, "jobs", "label", "--tag", "night:1", "--set", "night=2", "--dry-run", "--json"
    ).document
    assert (tried["dry_run"], tried["changed"]) == (True, 1)
    unconfirmed = rankery(stack, "jobs", "label", "--tag", "night:1", "--set", "night=2")
    assert unconfirmed.code == 2
    assert "--yes" in unconfirmed.errors
    assert rankery(stack, "jobs", "label", "--tag", "night:1", "--remove", "night", "--yes").code == 0
    moved = rankery(
        stack, "models", "label", "ops:1", "--to-project", "shop", "--set", "a=b", "--json"
    ).document
    assert (moved["changed"], moved["moved_names"]) == (1, ["ops"])
    listed = rankery(stack, "models", "list", "--project", "shop", "--json").document
    assert {one["version"]: one["tags"].get("a") for one in listed}[1] == "b"
    assert rankery(stack, "models", "label", "ops:1", "--to-project", "", "--remove", "a", "-q").code == 0
    assert rankery(stack, "models", "label", "ops:99", "--set", "a=b").code == 1
    for wrong in (("ops:1", "ops:1"), ("--set", "a=b"), ("ops:1", "--all", "--set", "a=b")):
        assert rankery(stack, "models", "label", *wrong).code == 2


def test_a_deletion_is_confirmed_and_names_the_holders_of_an_object(
    trained: dict[str, Any], stack: EmbeddedStack
) -> None:
    """Objects in use stay, which is a failure only for ids; the trash restores objects."""
    for name in ("gone", "kept"):
        quiet = rankery(stack, "train", trained["file"], "--name", name, *QUICK, "-q")
        assert (quiet.code, "Next:" in quiet.output) == (0, False)
    rankery(stack, "models", "promote", "kept:1")
    unconfirmed = rankery(stack, "models", "delete", "gone:1")
    assert unconfirmed.code == 2
    assert "--yes" in unconfirmed.errors
    plan = rankery(stack, "models", "delete", "gone:1", "--dry-run", "--json").document
    assert (plan["dry_run"], plan["deleted"]["models"]) == (True, 1)
    assert rankery(stack, "models", "show", "gone:1").code == 0
    done = rankery(stack, "models", "delete", "gone:1", "--yes", "--json").document
    assert (done["dry_run"], done["deleted"]["models"]) == (False, 1)
    older = ("--name", "gone", "--older-than", "30")
    none = rankery(stack, "models", "delete", *older, "--yes", "--json").document
    assert (none["dry_run"], none["deleted"]) == (False, {})
    assert rankery(stack, "models", "show", "gone:1").code == 1
    (in_trash,) = rankery(stack, "trash", "list", "--kind", "model", "--json").document
    assert rankery(stack, "trash", "restore", in_trash["id"]).code == 0
    assert rankery(stack, "models", "show", "gone:1").code == 0
    for selection, code in ((("--name", "kept"), 0), (("kept:1",), 1)):
        held = rankery(stack, "models", "delete", *selection, "--yes")
        assert (held.code, "alias kept@champion" in held.output) == (code, True)
    assert rankery(stack, "models", "delete", "--name", "gone", "--yes", "--permanently").code == 0
    assert rankery(stack, "trash", "list", "--kind", "model", "--json").document == []
    assert rankery(stack, "trash", "restore", in_trash["id"]).code == 1
    assert rankery(stack, "datasets", "delete", "orders.txt", "-q").code == 0
    in_trash, *_ = rankery(stack, "trash", "list", "--kind", "dataset", "--json").document
    assert rankery(stack, "trash", "restore", in_trash["id"]).code == 0
    filters = {
        "evaluations": ("--model", "mdl_x", "--dataset", "ds_x"),
        "jobs": ("--tag", "a:b", "--dataset", "ds_x"),
        "studies": ("--status", "cancelled", "--dataset", "ds_x"),
    }
    for kind, wanted in filters.items():
        dry_run = rankery(stack, kind, "delete", *wanted, "--project", "-", "--dry-run", "--json").document
        assert dry_run["deleted"] == {}
    for wrong in ((), ("ops:1", "--name", "ops"), ("--created-before", "yesterday")):
        assert rankery(stack, "models", "delete", *wrong).code == 2


def test_storage_and_audit_are_listed(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Storage by kind adds up to the total, and the audit log begins with the latest request."""
    storage = rankery(stack, "storage", "show", "--refresh", "--json").document
    assert storage["total_bytes"] == sum(one["size_bytes"] + one["trash_bytes"] for one in storage["kinds"])
    rankery(stack, "models", "label", "ops:1", "--set", "audited=yes")
    (latest,) = rankery(stack, "audit", "list", "--limit", "1", "--json").document
    assert (latest["method"], latest["path"], latest["status"]) == ("POST", "/v1/models/labels", 200)


def test_results_are_listed_shown_downloaded_and_deleted(
    trained: dict[str, Any], stack: EmbeddedStack, tmp_path: Path
) -> None:
    """All kinds of results have the same verbs."""
    dataset = trained["job"]["spec"]["dataset_id"]
    judged = ("--dataset", "orders.txt", "--metric", "ndcg@3")
    assert rankery(stack, "evaluate", "ops:1", *judged).code == 0
    run_file = tmp_path / "other.run"
    rankery(stack, "rank", "ops:1", trained["file"], "--trec", "--output", run_file)
    assert rankery(stack, "compare", "ops:1", run_file, *judged).code == 0
    for noun in ("evaluations", "comparisons", "rankings"):
        (listed, *_) = rankery(stack, noun, "list", "--dataset", dataset, "--json").document
        assert listed["dataset_id"] == dataset
        assert listed["id"] in rankery(stack, noun, "list", "--limit", "1").output
        if noun == "rankings":
            written = rankery(
                stack, noun, "download", listed["id"], tmp_path / "again.run", "--json"
            ).document
            assert Path(written["path"]).read_text().split()[1] == "Q0"
        else:
            assert "ndcg@3" in rankery(stack, noun, "show", listed["id"]).output
        gone = rankery(stack, noun, "delete", listed["id"], "--with-results", "--yes", "--json").document
        assert gone["deleted"][noun] == 1
        assert (
            rankery(stack, noun, "list", "--dataset", dataset, "--project", "nobodys", "--json").document
            == []
        )
    stored = rankery(stack, "models", "download", "ops:1", tmp_path / "ops.txt", "--json").document
    assert Path(stored["path"]).read_text().startswith("tree\n")
    assert rankery(stack, "studies", "list", "--json").document == []
    assert rankery(stack, "experiments", "list", "--json").document == []


def test_importance_and_inspections_are_shown(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Importance is computed from the trees, and inspections are measured on data."""
    gains = rankery(stack, "models", "inspect", "ops:1", "--json").document
    assert {one["feature"] for one in gains["features"]} == {"f1", "f2", "f3"}
    measured = rankery(
        stack, "models", "inspect", "ops:1", "--dataset", "orders.txt", "--repeats", "1", "--json"
    ).document
    assert {one["feature"] for one in measured["importance"]} == {"f1", "f2", "f3"}
    printed = rankery(stack, "models", "inspect", "ops", "--dataset", "orders.txt").output
    assert "decrease by shuffling each feature, with its 95% interval" in printed
    assert rankery(stack, "models", "inspect", "ops:1", "--repeats", "1").code == 2
    (listed, *_) = rankery(stack, "inspections", "list", "ops:1", "--json").document
    shown = rankery(stack, "inspections", "show", listed["id"], "--top", "1")
    assert "decrease by shuffling each feature, with its 95% interval" in shown.output


def test_events_are_listed_and_followed(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """With --follow, events are printed as lines of JSON while the command runs."""
    ended = rankery(stack, "events", "list", "--kind", "job.ended", "--limit", "200", "--json").document
    assert trained["job"]["id"] in {one["object"]["id"] for one in ended}
    assert "job.ended" in rankery(stack, "events", "list").output
    follower = start_command(
        "events", "list", "--follow", "--json", "--after", "0", "-q", "--data-dir", stack.data_dir
    )
    try:
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline())["id"] == 1
    finally:
        follower.kill()
        follower.communicate()


def test_schedules_are_made_run_paused_and_deleted(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Schedules are given by name, and their trainings can name datasets."""
    create_schedule = (
        "schedules",
        "create",
        "nightly",
        "--cron",
        "0 3 * * *",
        "--model",
        "ops",
        "--dataset",
        "orders.txt",
    )
    schedule = rankery(stack, *create_schedule, "--set", "num_iterations=5", "--json").document
    assert (schedule["job"]["dataset"], schedule["enabled"]) == ("orders.txt", True)
    checked = rankery(
        stack, "schedules", "create", "drift", "--cron", "0 4 * * 1", "--drift", "ops", "--json"
    )
    assert checked.document["job"]["kind"] == "drift"
    assert len(rankery(stack, "schedules", "list", "--json").document) == 2
    searched = ("--model", "ops", "--dataset", "orders.txt", "--best", "--budget", "1h", "--metric", "map")
    weekly = rankery(stack, "schedules", "create", "weekly", "--cron", "0 1 * * 0", *searched, "--json")
    assert weekly.code == 0, weekly.output
    expected = {"kind": "auto-train", "model_name": "ops", "budget_seconds": 3_600.0, "metric": "map"}
    assert weekly.document["job"].items() >= expected.items()
    assert rankery(stack, "schedules", "delete", "weekly").code == 0
    refused = rankery(stack, "schedules", "create", "x", "--cron", "0 3 * * *", "--drift", "ops", "--best")
    assert (refused.code, "leave --drift out" in refused.errors) == (2, True)
    checked_by = ("schedules", "create", "x", "--cron", "0 3 * * *", "--drift", "ops")
    refused = rankery(stack, *checked_by, "--loss", "mse", "--metric", "map")
    assert (refused.code, "--loss, --metric: only for a training" in refused.errors) == (2, True)
    assert rankery(stack, "schedules", "run", "nightly").code == 0
    shown = rankery(stack, "schedules", "show", "nightly", "--json").document
    assert shown["runs"][0]["trigger"] == "request"
    assert rankery(stack, "schedules", "pause", "nightly", "--json").document["enabled"] is False
    assert "paused" in rankery(stack, "schedules", "list").output
    assert rankery(stack, "schedules", "resume", schedule["id"], "--json").document["enabled"] is True
    assert rankery(stack, "schedules", "show", "daily").sentence.startswith("there is no schedule 'daily'")
    assert rankery(stack, "schedules", "create", "x", "--cron", "0 3 * * *").code == 2
    assert rankery(stack, "schedules", "create", "x", "--cron", "often", "--drift", "ops").code == 1
    assert rankery(stack, "schedules", "delete", "nightly", "drift").code == 0
    assert rankery(stack, "schedules", "list", "--json").document == []


class Receiver(http.server.BaseHTTPRequestHandler):
    """A receiver that accepts every delivery."""

    def do_POST(self) -> None:
        """Answer 200."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def test_webhooks_are_made_tested_and_deleted(stack: EmbeddedStack) -> None:
    """A webhook sends to a real receiver, and its secret is shown on creation."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        webhook = rankery(stack, "webhooks", "create", url, "--event", "job.ended", "--json").document
        assert webhook["secret"].startswith("whsec_")
        assert rankery(stack, "webhooks", "test", webhook["id"], "--json").document["delivered"] is True
        assert url in rankery(stack, "webhooks", "list").output
        rotated = rankery(stack, "webhooks", "rotate", webhook["id"], "--json").document
        assert rotated["secret"] != webhook["secret"]
        changed = rankery(stack, "webhooks", "change", webhook["id"], "--disable", "--json").document
        assert changed["enabled"] is False
        assert rankery(stack, "webhooks", "change", webhook["id"]).code == 2
        assert rankery(stack, "webhooks", "show", webhook["id"], "--json").document["webhook"]["url"] == url
        server.shutdown()
    assert rankery(stack, "webhooks", "test", webhook["id"]).code == 1
    assert rankery(stack, "webhooks", "delete", webhook["id"]).code == 0
    assert rankery(stack, "webhooks", "list", "--json").document == []


def test_drift_is_checked(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """A model that served no requests has too few queries for a verdict; its report is listed and shown."""
    assert rankery(stack, "train", trained["file"], "--name", "unserved", *QUICK).code == 0
    done = rankery(stack, "drift", "check", "unserved:1", "--json")
    report = done.document
    assert (done.code, report["verdict"]) == (0, "too_few")
    listed = rankery(stack, "drift", "list", "--json").document
    assert [one["id"] for one in listed] == [report["id"]]
    assert report["sentence"] in rankery(stack, "drift", "show", report["id"]).output


def test_a_dataset_is_downloaded_and_a_url_must_be_allowed(
    trained: dict[str, Any], stack: EmbeddedStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The downloaded file has the dataset's rows; a URL is refused unless RANKERY_SOURCES allows it.

    The default file name has the whole name of the dataset, since `v1.1` and `v1.2` are no endings.
    """
    monkeypatch.chdir(tmp_path)
    assert (
        rankery(stack, "datasets", "download", "orders.txt", "--json").document["path"]
        == "orders.txt.parquet"
    )
    target = tmp_path / "again.letor"
    done = rankery(stack, "datasets", "download", "orders.txt", target, "--format", "letor", "--json")
    assert done.document["path"] == str(target)
    assert len(target.read_text().splitlines()) == len(JUDGED.splitlines())
    refused = rankery(stack, "datasets", "import", "https://data.example.org/train.csv")
    assert refused.code == 1
    assert "RANKERY_SOURCES" in refused.sentence
    assert rankery(stack, "datasets", "import").code == 2


def test_misspelt_settings_are_refused_before_anything_is_uploaded(
    stack: EmbeddedStack, tmp_path: Path
) -> None:
    """The error suggests the right name; a dataset uploaded with columns is reused without them."""
    (tmp_path / "other.txt").write_text(JUDGED.replace("1:", "9:"))
    for words in (("train", "--set", "num_leavs=3"), ("tune", "--set", "learing_rate=0.2")):
        done = rankery(stack, words[0], tmp_path / "other.txt", *words[1:])
        assert done.code == 1
        assert "did you mean" in done.sentence
    network = ("--scorer", "mlp", "--set", "dropuot=0.1")
    assert "mlp have no hyperparameter 'dropuot'; did you mean 'dropout'?" in (
        rankery(stack, "train", tmp_path / "other.txt", *network).sentence
    )
    names = {one["name"] for one in rankery(stack, "datasets", "list", "--json").document}
    assert "other.txt" not in names
    table = tmp_path / "table.csv"
    table.write_text("grade,search,a\n1,x,0.5\n0,x,0.2\n")
    columns = ("--columns", '{"label": "grade", "query": "search"}')
    first = rankery(stack, "datasets", "upload", table, *columns, "--json").document[0]
    again = rankery(stack, "evaluate", "ops", "--dataset", table)
    options = '{"columns": {"label": "grade", "query": "search"}}'
    assert f"was uploaded before, as {first['id']}, read with {options}" in again.errors
