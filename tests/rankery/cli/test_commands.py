"""All commands that use a service, with one real service for all tests."""

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack
from tests.rankery.cli.commands import JUDGED, Done, ids, run, start_command
from tests.servers.web import WebServer

SMALL = ("--set", "num_iterations=5", "--set", "min_data_in_leaf=2", "--metric", "ndcg@5")
QUICK = (*SMALL, "--no-auto")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judged files."""
    folder = tmp_path_factory.mktemp("files")
    lines = JUDGED.splitlines(keepends=True)
    (folder / "train.txt").write_text(JUDGED)
    (folder / "test.txt").write_text("".join(lines[100:]).replace("qid:", "qid:1"))
    (folder / "broken.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:no\n")
    (folder / "unknown.csv").write_text(as_table(JUDGED))
    (folder / "unread.csv").write_text(as_table(JUDGED.replace("qid:1 ", "qid:99 ")))
    return folder


@pytest.fixture(scope="module")
def trained(stack: EmbeddedStack, folder: Path) -> dict[str, Any]:
    """The output of `rankery train --json`."""
    data = (folder / "train.txt", "--test", folder / "test.txt", "--name", "web")
    done = rankery(stack, "train", *data, *QUICK, "--json")
    assert done.code == 0, done.errors
    document: dict[str, Any] = done.document
    return document


def as_table(judged: str) -> str:
    """Return LETOR text as a table whose columns have unusual names."""
    rows = [line.split() for line in judged.splitlines()]
    return "grade,search,f1,f2,f3\n" + "".join(
        f"{label},{query.removeprefix('qid:')},{','.join(value.split(':')[1] for value in values)}\n"
        for label, query, *values in rows
    )


def rankery(stack: EmbeddedStack, *arguments: str | Path, **options: Any) -> Done:
    """Run a command on the shared service, which it finds by its data folder."""
    return run(*arguments, "--data-dir", stack.data_dir, NO_COLOR="1", **options)


def test_training_uploads_trains_and_evaluates(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """The command uploads, waits, trains and evaluates, and prints job, model, evaluation and datasets."""
    assert trained["job"]["status"] == "succeeded"
    assert trained["job"]["spec"]["loss"]["name"] == "ndcg-loss2++"
    assert trained["job"]["spec"]["validation"] == {"fraction": 0.2}
    assert (trained["model"]["name"], trained["model"]["version"]) == ("web", 1)
    assert trained["evaluation"]["metrics"]["ndcg@5"]["queries"] == 20
    listed = rankery(stack, "datasets", "list", "--json").document
    assert {one["name"] for one in listed} >= {"train.txt", "test.txt"}


def test_training_prints_numbers_and_the_next_commands(
    trained: dict[str, Any], stack: EmbeddedStack, folder: Path
) -> None:
    """A file is not uploaded twice; standard error names the service, the datasets and the job."""
    done = rankery(
        stack, "train", folder / "train.txt", "--test", folder / "test.txt", "--name", "text", *QUICK
    )
    assert done.code == 0, done.errors
    found, result = done.output.split("text:1: ")
    train, test_data = (trained["job"]["spec"][name] for name in ("dataset_id", "test_dataset_id"))
    assert found.startswith("train.txt:\nwarning")
    assert "1 of 3 features ranks documents almost in the order of their labels" in found
    assert "\nNext, check the findings before you rely on these metrics:\n" in result
    assert f"  rankery datasets doctor {train} --data-dir {stack.data_dir}\n" in result
    assert f"  rankery datasets doctor {test_data} --data-dir {stack.data_dir}\n" in result
    assert "\nThen:\n" in result
    examined = {one["id"]: {found["severity"] for found in one["findings"]} for one in trained["datasets"]}
    assert examined == {train: {"warning", "info"}, test_data: {"warning", "info"}}
    assert "mean over queries with its 95% interval" in done.output
    assert (
        f"rankery export text:1 --format lightgbm -o text-1.model.txt --data-dir {stack.data_dir}"
        in done.output
    )
    using, train, test, submitted = done.errors.splitlines()
    assert using == f"rankery: using the service of {stack.data_dir} at {stack.url}"
    assert train == f"rankery: train.txt was uploaded before, as {trained['job']['spec']['dataset_id']}"
    assert test.startswith("rankery: test.txt was uploaded before")
    assert submitted.endswith(", ndcg-loss2++ for text")


def test_folds_are_printed_one_by_one(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """The table has a row per fold, then all queries; folds and another validation exclude each other."""
    done = rankery(stack, "train", "train.txt", "--name", "folds", *QUICK, "--folds", "3")
    assert done.code == 0, done.errors
    rows = [line.split() for line in done.output.splitlines()]
    assert [row[0] for row in rows if len(row) == 4 and row[0] in ("1", "2", "3")] == ["1", "2", "3"]
    assert any(row[:2] == ["all", "queries"] for row in rows)
    with Client(stack.url) as client:
        lineage = client.model("folds:1").lineage
    assert lineage is not None
    assert lineage.spec["validation"] == {"folds": 3}
    again = ("train", "train.txt", "--name", "folds", *QUICK, "--folds", "3", "--loss", "lambdarank")
    assert rankery(stack, *again).code == 0
    pooled = ("--folds", "--reference", "folds:2", "--correction", "none")
    compared = rankery(stack, "compare", "folds:1", "folds:2", "--dataset", "train.txt", *pooled, "--json")
    assert compared.code == 0, compared.errors
    assert (compared.document["reference"], compared.document["correction"]) == (1, "none")
    assert [one["name"] for one in compared.document["systems"]] == ["folds:1 by folds", "folds:2 by folds"]
    assert [(pair["a"], pair["b"]) for pair in compared.document["pairs"]] == [(1, 0)]
    both = rankery(stack, "train", "train.txt", "--folds", "3", "--validation", "0.2")
    assert both.code == 2
    assert "exclude each other" in both.errors


def test_training_uses_chosen_features_and_continues_a_model(
    trained: dict[str, Any], stack: EmbeddedStack
) -> None:
    """Options name the features to use or to leave out, and a training can add trees to a model."""
    fewer = rankery(
        stack, "train", "train.txt", "--name", "fewer", *QUICK, "--leave-out-feature", "f2", "--json"
    )
    assert fewer.code == 0, fewer.errors
    chosen = ("--use-feature", "f1", "--use-feature", "f3")
    more = rankery(
        stack, "train", "train.txt", "--name", "more", *QUICK, *chosen, "--init-model", "fewer:1", "--json"
    )
    assert more.code == 0, more.errors
    with Client(stack.url) as client:
        first, second = client.model("fewer:1"), client.model("more:1")
        assert first.feature_names == second.feature_names == ["f1", "f3"]
        assert second.importance().trees > first.importance().trees
    both = rankery(stack, "train", "train.txt", *chosen, "--leave-out-feature", "f2")
    assert both.code == 2
    assert "--use-feature and --leave-out-feature exclude each other" in both.errors


def test_a_grid_submits_a_training_per_combination(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Each combination becomes a training, one table has the results, and datasets can be given by name."""
    grid = ("--grid", "num_leaves=3,7", "--grid", "loss=lambdarank,mse")
    done = rankery(stack, "train", "train.txt", "--name", "grid", *QUICK, *grid)
    assert done.code == 0, done.errors
    assert done.output.startswith("train.txt:\nwarning")
    lines = [line.split() for line in done.output.splitlines()]
    (heading,) = (line for line in lines if line[:1] == ["model"])
    assert heading[:3] == ["model", "num_leaves", "loss"]
    rows = [line for line in lines if line and line[0].startswith("grid:") and line[1] in "37"]
    assert [(leaves, loss) for _, leaves, loss, *_ in rows] == [
        (leaves, loss) for leaves in ("3", "7") for loss in ("lambdarank", "mse")
    ]
    value = max(float(row[4]) for row in rows)
    best = next(row for row in rows if float(row[4]) == value)
    sentence = (
        f"{best[0]} is the best by validation ndcg@5, {value:.4f}: num_leaves={best[1]}, loss={best[2]}"
    )
    assert sentence in done.output
    assert f"rankery models promote {best[0]}" in done.output


def test_findings_of_a_grid_name_their_trainings(
    trained: dict[str, Any], stack: EmbeddedStack, folder: Path
) -> None:
    """A finding of several trainings is shown once, below the names of their models."""
    test = ("--test", folder / "test.txt")
    grid = rankery(stack, "train", "train.txt", *test, "--name", "found", *QUICK, "--grid", "num_leaves=3,7")
    shown = " ".join(grid.output.split())
    assert shown.count("of the test data have exactly the same features as a training document") == 1
    assert "trainings found:1, found:2: warning 82 of 100 documents of the test data" in shown
    assert "training found:1: warning found is not significantly better" in shown
    assert "training found:2: warning found is not significantly better" in shown
    alone = rankery(stack, "train", "train.txt", *test, "--name", "found", *QUICK)
    assert "training found:3: warning" in " ".join(alone.output.split())


def test_a_grid_goes_through_seeds(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """JSON marks the best training, too; without validation data, no training is the best."""
    grid = ("--grid", "seed=1,2", "--grid", "loss.mu=1,5", "--json")
    done = rankery(stack, "train", "train.txt", "--name", "seeds", *QUICK, *grid).document
    assert [(one["job"]["spec"]["seed"], one["job"]["spec"]["loss"]["mu"]) for one in done] == [
        (seed, mu) for seed in (1, 2) for mu in (1.0, 5.0)
    ]
    values = [one["job"]["metrics"]["validation"]["ndcg@5"] for one in done]
    assert [one["best"] for one in done].index(True) == values.index(max(values))
    assert sum(one["best"] for one in done) == 1
    options = ("--grid", "seed=1,2", "--validation", "none", "--name", "unjudged", *QUICK)
    assert (
        "Without validation data no best model is selected"
        in rankery(stack, "train", "train.txt", *options).output
    )


def test_sizes_are_chosen_unless_they_are_given(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """--set overrides one automatic value, and --no-auto overrides all."""
    chosen = rankery(stack, "train", "train.txt", "--name", "sized", *SMALL, "--json").document["job"]["spec"]
    assert set(chosen["automatic"]["chosen"]) == {"num_leaves", "learning_rate"}
    assert (chosen["hyperparameters"]["num_iterations"], chosen["hyperparameters"]["min_data_in_leaf"]) == (
        5,
        2,
    )
    plain = trained["job"]["spec"]
    assert "automatic" not in plain
    assert plain["hyperparameters"]["num_leaves"] == 31


def test_declared_options_are_options_of_the_command_and_of_the_client(
    trained: dict[str, Any], stack: EmbeddedStack
) -> None:
    """`core/training/options.py` declares the options; an omitted option has its default."""
    options = ("--name", "options", *QUICK, "--bootstrap", "--metric-interval", "2", "--no-watch", "--json")
    submitted = rankery(stack, "train", trained["job"]["spec"]["dataset_id"], *options).document["job"][
        "spec"
    ]
    assert (submitted["bootstrap"], submitted["metric_interval"]) == (True, 2)
    with Client(stack.url) as client:
        job = client.train(
            "options", submitted["dataset_id"], hyperparameters={"num_iterations": 1}, bootstrap=True
        )
    assert (job.spec["bootstrap"], job.spec["metric_interval"]) == (True, 1)
    assert rankery(stack, "train", "train.txt", "--metric-interval", "0").code == 2


def test_repeats_show_the_spread(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Repeats draw bootstrap samples with consecutive seeds, and no repeat is marked as the best."""
    done = rankery(stack, "train", "train.txt", "--name", "again", *QUICK, "--repeats", "2", "--seed", "5")
    assert done.code == 0, done.errors
    assert "standard deviation" in done.output
    assert "is the best by validation" not in done.output
    with Client(stack.url) as client:
        specs = [job.spec for job in client.jobs(kind="train") if job.spec["model_name"] == "again"]
    assert sorted((spec["seed"], spec["bootstrap"]) for spec in specs) == [(5, True), (6, True)]


def test_the_best_model_is_found(
    trained: dict[str, Any], stack: EmbeddedStack, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leaderboard and the conclusion are printed as JSON and as a table."""
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest-xdist sets it, and cells would be wrapped
    candidates = ("--candidate", "linear by lambdarank", "--candidate", "stumps by lambdarank")
    options = ("--best", "--budget", "2h", "--metric", "ndcg@5", *candidates, "--name", "best")
    done = rankery(stack, "train", folder / "train.txt", "--test", folder / "test.txt", *options, "--json")
    assert done.code == 0, done.errors
    job, rows = done.document["job"], done.document["candidates"]
    assert (job["spec"]["budget_seconds"], job["spec"]["metric"]) == (7_200.0, "ndcg@5")
    assert {row["name"] for row in rows} == {"linear by lambdarank", "stumps by lambdarank"}
    assert done.document["model"]["name"] == "best"
    sentence = job["result"]["conclusion"]["sentence"]
    shown = rankery(stack, "jobs", "candidates", job["id"])
    assert sentence in shown.output
    assert rows[0]["name"] in shown.output
    assert sentence in rankery(stack, "jobs", "show", job["id"]).output
    assert "try-candidates" not in rankery(stack, "jobs", "list").output


def test_labels_are_mapped(trained: dict[str, Any], stack: EmbeddedStack, folder: Path) -> None:
    """The error for unjudged documents names the option `--label-map`, or the field of a job in JSON."""
    path = folder / "unjudged.txt"
    path.write_text(JUDGED.replace("2 qid:1 ", "nan qid:1 "))
    train = ("train", path, "--name", "mapped", "--set", "num_iterations=2")
    refused = rankery(stack, *train)
    assert refused.sentence.startswith("--label-map: 1 document has no label (NaN); map it")
    (dataset,) = (
        one for one in rankery(stack, "datasets", "list", "--json").document if one["name"] == path.name
    )
    job = folder / "job.json"
    job.write_text(json.dumps({"model_name": "mapped", "dataset_id": dataset["id"], "loss": {"name": "mse"}}))
    assert rankery(stack, "train", "--from-json", job).sentence.startswith(
        "/label_map: 1 document has no label"
    )
    mapped = rankery(stack, *train, "--label-map", '{"nan": 0}', "--json")
    assert mapped.document["job"]["spec"]["label_map"] == {"nan": 0.0}
    checks = (("models", "inspect", "web", "--repeats", "1"), ("gates", "set", "mapped@champion"))
    for command in (("evaluate", "web"), ("compare", "web", "mapped"), *checks):
        on_dataset = (*command, "--dataset", path)
        assert rankery(stack, *on_dataset).code == 1
        assert rankery(stack, *on_dataset, "--label-map", '{"nan": 0}').code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--best", "--loss", "mse"), "--best chooses what is trained: leave --loss out"),
        (("--best", "--no-auto", "--grid", "seed=1,2"), "leave --auto, --grid out"),
        (("--budget", "10m"), "--budget: add --best, or leave it out"),
        (("--best", "--budget", "soon"), "--budget takes a time such as 90s, 10m or 2h, not 'soon'"),
        (("--best", "--metric", "map", "--metric", "mrr"), "--best selects by one metric"),
        (("--best", "--test", "0.2"), "--best holds out queries itself; give --test a judged file"),
        (("--best", "--test", "2e-1"), "--best holds out queries itself; give --test a judged file"),
    ],
)
def test_options_that_do_not_go_with_best_are_refused(options: tuple[str, ...], sentence: str) -> None:
    """The command refuses the options before an upload, with the exit code of wrong usage."""
    done = run("train", "no-such-file.txt", *options, "--url", "http://127.0.0.1:1")
    assert done.code == 2
    assert sentence in done.errors


@pytest.mark.parametrize("option", ["--validation", "--test"])
def test_a_share_of_a_single_query_is_refused(stack: EmbeddedStack, tmp_path: Path, option: str) -> None:
    """The error names the option and a remedy before the job is submitted; `none` holds out nothing."""
    (tmp_path / "single.txt").write_text("".join(JUDGED.splitlines(keepends=True)[:5]))
    options = ("--validation", "none", "--set", "num_iterations=2", "--name", "single")
    done = rankery(stack, "train", tmp_path / "single.txt", *options, option, "0.2")
    assert done.code == 1
    assert done.sentence == (
        f"single.txt has a single query, so that {option} cannot hold out a share; give data with more"
        f" queries, or {option} none"
    )
    assert rankery(stack, "train", "single.txt", *options).code == 0


def test_ranks_are_options_of_a_training(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """The command line and the client accept ranks, but refuse them for networks and folds."""
    data = trained["job"]["spec"]["dataset_id"]
    options = (
        "--name",
        "spread",
        *QUICK,
        "--ranks",
        "2-3",
        "--threads-per-rank",
        "2",
        "--no-watch",
        "--json",
    )
    done = rankery(stack, "train", data, *options)
    assert done.code == 0, done.errors
    stored = {"ranks": {"at_least": 2, "at_most": 3}, "threads_per_rank": 2}
    assert done.document["job"]["spec"]["distribution"] == stored
    rankery(stack, "jobs", "cancel", done.document["job"]["id"])
    with Client(stack.url) as client:
        job = client.train("spread", data, "mse", distribution=4, priority="low")
        job.cancel()
    assert job.spec["distribution"]["ranks"] == {"at_least": 2, "at_most": 4}
    for other in (("--scorer", "mlp"), ("--folds", "5")):
        done = rankery(stack, "train", "no-such-file.txt", "--ranks", "4", *other)
        assert (done.code, done.output) == (2, "")
        assert "--ranks applies only to trees without folds" in done.errors


def test_a_grid_with_one_mistake_starts_nothing(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """The service checks all points of a grid before it queues the first."""
    with Client(stack.url) as client:
        before = [job.id for job in client.jobs()]
        done = rankery(stack, "train", "train.txt", "--name", "half", *QUICK, "--grid", "num_leaves=7,1")
        assert (done.code, done.output) == (1, "")
        assert "/jobs/1/hyperparameters/num_leaves: must be greater than or equal to 2" in done.sentence
        assert [job.id for job in client.jobs()] == before


def test_a_job_can_be_submitted_as_json_without_waiting(
    trained: dict[str, Any], stack: EmbeddedStack, tmp_path: Path
) -> None:
    """--from-json and --no-watch work; `jobs wait` waits, and `jobs history` can begin later."""
    body = {key: trained["job"]["spec"][key] for key in ("dataset_id", "loss", "hyperparameters")}
    path = tmp_path / "job.json"
    path.write_text(json.dumps({"kind": "train", "model_name": "whole", **body}))
    submitted = rankery(stack, "train", "--from-json", path, "--no-watch", "--json").document
    assert (submitted["model"], submitted["evaluation"]) == (None, None)
    job = submitted["job"]["id"]
    waited = rankery(stack, "jobs", "wait", job, "--json")
    assert (waited.code, waited.document[0]["status"]) == (0, "succeeded")
    shown = rankery(stack, "jobs", "show", job)
    assert job in shown.output
    assert "succeeded" in shown.output
    assert rankery(stack, "jobs", "show", job, "--json").document["kind"] == "train"
    assert ids(rankery(stack, "jobs", "list", "--kind", "train", "--limit", "1", "--json").document) == [job]
    history = rankery(stack, "jobs", "history", job, "--after", "3", "--json").document
    assert history["iterations"] == [4, 5]
    assert rankery(stack, "jobs", "history", job).output.splitlines()[-1].startswith("best iteration: ")


def test_ctrl_c_leaves_the_job_and_prints_how_to_continue(
    trained: dict[str, Any], stack: EmbeddedStack
) -> None:
    """The exit code is 130, and both commands that the message names work."""
    slow = ("--set", "num_iterations=100000", "--set", "min_data_in_leaf=2", "--validation", "none")
    process = start_command("train", "train.txt", "--name", "slow", *slow, "--data-dir", stack.data_dir)
    assert process.stderr is not None
    lines = iter(process.stderr.readline, "")
    job = next(line.split()[2].rstrip(",") for line in lines if "submitted" in line)
    with Client(stack.url) as client:
        while client.job(job).status != "running":
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        assert (process.returncode, output) == (130, "")
        where = f"--data-dir {stack.data_dir}"
        assert errors == (
            f"rankery: stopped watching; the job {job} continues: `rankery jobs wait {job} {where}` waits"
            f" again, `rankery jobs cancel {job} {where}` cancels it\n"
        )
        assert client.job(job).status == "running"
    late = rankery(stack, "jobs", "wait", job, "--timeout", "0.1")
    assert (late.code, late.sentence) == (1, f"{job} is still running after 0.1 s")
    assert ids(rankery(stack, "jobs", "cancel", job, "--json").document) == [job]
    waited = rankery(stack, "jobs", "wait", job)
    assert (waited.code, waited.sentence) == (1, f"{job} cancelled")


def test_interleavings_are_created_shown_and_deleted(stack: EmbeddedStack) -> None:
    """An interleaving is created from its rankers, and its verdict is a sentence."""
    rankers = ("--ranking", "bm25", "--ranking", "dense")
    interleaving = rankery(stack, "interleavings", "create", "engines", *rankers, "--json").document
    assert interleaving["rankers"] == ["bm25", "dense"]
    assert [one["id"] for one in rankery(stack, "interleavings", "list", "--json").document] == [
        interleaving["id"]
    ]
    assert "bm25, dense" in rankery(stack, "interleavings", "show", interleaving["id"]).output
    verdict = rankery(stack, "interleavings", "verdict", "engines")
    assert "Undecided between bm25 and dense: no user prefers either ranker yet." in verdict.output
    assert rankery(stack, "interleavings", "create", "engines").code == 2
    second = rankery(stack, "interleavings", "create", "engines", *rankers, "--json").document
    ambiguous = rankery(stack, "interleavings", "delete", "engines")
    assert ambiguous.sentence.startswith("2 interleavings are named 'engines'; give the id of one: itl_")
    assert rankery(stack, "interleavings", "delete", second["id"]).code == 0
    assert rankery(stack, "interleavings", "delete", interleaving["id"]).code == 0
    assert rankery(stack, "interleavings", "show", interleaving["id"]).code == 1


def test_click_logs_are_uploaded_shown_and_deleted(stack: EmbeddedStack, tmp_path: Path) -> None:
    """The log has counts, clicks by rank and findings; an invalid cell is refused with its place."""
    path = tmp_path / "clicks.csv"
    path.write_text("terms,document,rank,click\nshoes,a,1,0\nshoes,b,2,1\nshoes,b,1,1\nshoes,a,2,0\n")
    columns = ("--columns", '{"query": "terms"}', "--rank-base", "1")
    log = rankery(stack, "click-logs", "upload", path, *columns, "--json").document
    assert (log["statistics"]["lists"], log["statistics"]["clicks"]) == (2, 2)
    assert log["id"] in ids(rankery(stack, "click-logs", "list", "--json").document)
    shown = rankery(stack, "click-logs", "show", "clicks.csv").output
    assert "impression: 4, click: 2" in shown
    assert "The lists have no users" in shown
    busy = "".join(f"s{number},shoes,a,1,0,bot\n" for number in range(150))
    others = "".join(f"t{number},shoes,a,1,1,u{number}\n" for number in range(9))
    path.write_text(f"list,query,document,rank,click,user\n{busy}{others}")
    crowded = rankery(stack, "click-logs", "upload", path, "--name", "crowded").output
    assert re.search(r"^ +user 0: 150 lists$", crowded, re.MULTILINE)
    path.write_text("query,document,rank,event\nshoes,a,1,click\n")
    assert (
        """name it in --columns '{"click": …}' or --columns '{"action": …}'"""
        in rankery(stack, "click-logs", "upload", path).sentence
    )
    path.write_text("query,document,rank,click\nshoes,a,first,0\n")
    wrong = rankery(stack, "click-logs", "upload", path)
    assert (wrong.code, "file clicks.csv, line 2, column rank" in wrong.sentence) == (1, True)
    assert rankery(stack, "click-logs", "delete", log["id"], "--json").document == [log["id"]]
    assert rankery(stack, "click-logs", "show", log["id"]).code == 1


def test_clicks_are_simulated_and_their_propensities_estimated(
    trained: dict[str, Any], stack: EmbeddedStack
) -> None:
    """The log shows clicks by rank, propensities have intervals, and a training uses both."""
    simulate = ("click-logs", "simulate", trained["job"]["spec"]["dataset_id"], "--name", "simulated clicks")
    done = rankery(stack, *simulate, "--model", "web", "--lists", "20000", "--swaps", "shuffle", "--json")
    assert done.code == 0, done.errors
    assert done.document["statistics"]["lists"] == 20_000
    estimate = ("click-logs", "propensities", "simulated clicks", "--method", "shuffled", "--positions", "10")
    estimates = rankery(stack, *estimate, "--json").document
    assert estimates["propensities"][:3] == pytest.approx([1.0, 0.61 / 0.68, 0.48 / 0.68], abs=0.1)
    printed = rankery(stack, *estimate).errors
    assert "times as often as rank 1" in printed
    assert "`rankery train FEATURES --clicks 'simulated clicks' --click-option correction=ips" in printed
    assert f" --data-dir {stack.data_dir}`" in printed
    newest = rankery(stack, "jobs", "list", "--kind", "propensity", "--json").document[0]
    correction = ("--click-option", "correction=ips", "--click-option", f"propensity_job={newest['id']}")
    train = ("train", trained["job"]["spec"]["dataset_id"], "--clicks", "simulated clicks", *correction)
    named = (*train, "--loss", "lambdarank", "--name", "clicked", *QUICK)
    job = rankery(stack, *named, "--json").document["job"]
    assert job["spec"]["clicks"]["propensities"] == pytest.approx(estimates["propensities"])
    naive = job["result"]["naive"]
    assert naive["data"] == "validation"
    assert naive["sentence"] in " ".join(rankery(stack, *named).output.split())
    shown = rankery(stack, "jobs", "show", job["id"]).output
    assert naive["sentence"] in " ".join(shown.split())
    assert rankery(stack, "click-logs", "fit", "simulated clicks", "--model", "pbm").code == 0
    (fitted,) = rankery(stack, "jobs", "list", "--kind", "click-model", "--json").document
    shown = rankery(stack, "jobs", "show", fitted["id"]).output
    assert "only in JSON" in shown
    assert "{" not in shown
    assert rankery(stack, "train", "none", "--clicks", "absent").sentence.startswith("there is no click log")


def test_clicks_are_simulated_and_judged_on_a_file_with_columns_of_other_names(
    stack: EmbeddedStack, tmp_path: Path
) -> None:
    """The columns are named once; later commands read the same content in the same way."""
    path = tmp_path / "goods.csv"
    rows = [f"{sku % 3},shoes {q},sku-{sku},{sku + q}" for q in range(60) for sku in range(6)]
    path.write_text("\n".join(["grade,search,sku,bm25", *rows]) + "\n")
    columns = ("--columns", '{"label": "grade", "query": "search", "document": "sku"}')
    simulate = ("click-logs", "simulate", path, "--name", "goods", "--feature", "bm25", "--lists", "500")
    simulated = rankery(stack, *simulate, *columns, "--json")
    assert simulated.code == 0, simulated.errors
    judge = rankery(stack, "click-logs", "judge", "goods", path, "--model", "ctr", "--json")
    assert judge.code == 0, judge.errors
    assert "goods.csv was uploaded before" in judge.errors
    estimate = ("click-logs", "propensities", "goods", "--method", "regression-em", "--positions", "3")
    assert rankery(stack, *estimate, "--dataset", path, *columns, "--json").code == 0
    assert rankery(stack, *estimate, *columns).code == 2


def test_datasets_are_uploaded_shown_and_deleted(stack: EmbeddedStack, folder: Path, tmp_path: Path) -> None:
    """Datasets are given by id or by name; an ambiguous name is refused with the candidates."""
    path = tmp_path / "judged.csv"
    path.write_text("grade,search,bm25,price\n2,shoes,1.5,7\n0,shoes,2,7\n")
    columns = ("--columns", '{"label": "grade", "query": "search"}')
    (tmp_path / "judged.csv.weight").write_text("1\n1\n")
    uploaded = rankery(stack, "datasets", "upload", path, *columns, "--json")
    (first,) = uploaded.document
    assert "\nrankery: judged.csv.weight is ignored: " in uploaded.errors
    assert (first["name"], first["statistics"]["queries"]) == ("judged.csv", 1)
    assert rankery(stack, "datasets", "show", "judged.csv", "--json").document["id"] == first["id"]
    (second,) = rankery(
        stack, "datasets", "generate", "--queries", "5", "--name", "judged.csv", "--json"
    ).document
    unclear = rankery(stack, "datasets", "show", "judged.csv")
    assert unclear.code == 1
    assert unclear.sentence.startswith("2 datasets are named 'judged.csv'; give the id of one: ")
    assert all(one["id"] in unclear.sentence for one in (first, second))
    shown = rankery(stack, "datasets", "show", first["id"])
    # The folder's path may be too long for one line.
    command = f"rankery datasets doctor {first['id']} --data-dir {stack.data_dir}"
    assert command.replace(" ", "") in "".join(shown.output.split())
    findings = rankery(stack, "datasets", "doctor", first["id"], "--json").document
    assert [finding["code"] for finding in findings] == [finding["code"] for finding in first["findings"]]
    (query,) = rankery(stack, "datasets", "queries", first["id"], "--json").document
    assert (query["query_id"], query["documents"]) == ("shoes", 2)
    documents = rankery(stack, "datasets", "queries", first["id"], "shoes", "--json").document["documents"]
    assert [document["features"] for document in documents] == [[1.5, 7.0], [2.0, 7.0]]
    gone = rankery(stack, "datasets", "delete", first["id"], second["id"], "--json").document
    assert gone == [first["id"], second["id"]]
    assert rankery(stack, "datasets", "show", first["id"]).sentence == f"there is no dataset {first['id']!r}"


def test_all_errors_of_an_upload_are_listed(stack: EmbeddedStack, tmp_path: Path) -> None:
    """The refusal names the first error, and the command that lists all of them."""
    path = tmp_path / "errors.csv"
    path.write_text('label,query_id,bm25\n2,q1,1.5\nbad,q1,2\n1,q1,"3,5"\n')
    refused = rankery(stack, "train", path)
    assert refused.sentence.endswith("found 'bad' (and 1 more)")
    (listed,) = re.findall(r"`rankery (datasets show ds_\S+) .*` lists the errors", refused.errors)
    shown = rankery(stack, *listed.split()).output
    assert re.search(r"Not a number +label +1 +3 +bad", shown)
    assert re.search(r"Decimal comma instead of a point +bm25 +1 +4 +3,5", shown)


def test_columns_of_a_table_can_be_declared(
    trained: dict[str, Any], stack: EmbeddedStack, folder: Path
) -> None:
    """Commands that take a file accept --columns, and do not upload the same file again."""
    columns = ("--columns", '{"label": "grade", "query": "search"}', "--json")
    table = folder / "unknown.csv"
    document = rankery(stack, "train", table, *columns, "--name", "table", *QUICK).document
    dataset = document["job"]["spec"]["dataset_id"]
    with Client(stack.url) as client:
        statistics = client.dataset(dataset).statistics
    assert statistics is not None
    assert statistics["queries"] == 40
    measured = rankery(stack, "evaluate", "web:1", "--dataset", table, *columns, "--metric", "ndcg@5")
    assert f"unknown.csv was uploaded before, as {dataset}" in measured.errors
    compared = rankery(stack, "compare", "web:1", "table:1", "--dataset", table, *columns).document
    assert (measured.document["dataset_id"], compared["dataset_id"]) == (dataset, dataset)
    ranked = rankery(stack, "rank", "web:1", table, *columns).document
    judged = rankery(stack, "rank", "web:1", folder / "train.txt", "--json").document
    assert ranked == judged
    idle = rankery(stack, "evaluate", "web:1", "--dataset", "train.txt", *columns)
    assert (idle.code, idle.output) == (2, "")
    assert "--columns applies only to files" in idle.errors


def test_models_are_promoted_and_taken_back(
    trained: dict[str, Any], stack: EmbeddedStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a gate the alias moves immediately; a gate prints its verdict, and a refusal exits with 3."""
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest-xdist sets it, and cells would be wrapped
    moved = rankery(stack, "models", "promote", "web:1", "--json")
    assert (moved.document["model"]["aliases"], moved.sentence) == (["champion"], "web@champion is web:1")
    with Client(stack.url) as client:
        for iterations in (1, 40):
            data = trained["job"]["spec"]["dataset_id"]
            client.train("web", data, hyperparameters={"num_iterations": iterations}).wait()
        test = trained["job"]["spec"]["test_dataset_id"]
        client.set_gate("web", "champion", {"dataset_id": test, "metric": "ndcg@5", "require": "better"})
        refused = rankery(stack, "models", "promote", "web:2")
        assert refused.code == 3
        assert "web:2 is worse than web:1 by ndcg@5: " in refused.sentence
        client.set_gate("web", "champion", {"dataset_id": test, "metric": "ndcg@5", "p": 1e-9})
    admitted = rankery(stack, "models", "promote", "web:3", "--json")
    assert admitted.code == 0
    assert admitted.document["sentence"] in admitted.errors
    assert rankery(stack, "aliases", "list", "web", "--json").document[0]["version"] == 3
    assert rankery(stack, "models", "rollback", "web@champion", "--json").document["version"] == 1
    promotions = rankery(stack, "jobs", "list", "--kind", "promote").output
    assert re.findall(r"web:\d for @champion", promotions) == ["web:3 for @champion", "web:2 for @champion"]
    history = rankery(stack, "aliases", "history", "web@champion", "--json").document
    assert history == rankery(stack, "aliases", "history", "web", "--alias", "champion", "--json").document
    assert rankery(stack, "models", "rollback", "web@champion", "--alias", "staging").code == 2
    kinds = [move["kind"] for move in history]
    assert kinds == ["rolled_back", "promoted", "refused", "moved"]
    assert rankery(stack, "models", "show", "web@champion", "--json").document["version"] == 1
    assert "ndcg-loss2++" in rankery(stack, "models", "show", "web:1").output
    names = [one["name"] for one in rankery(stack, "models", "list", "--name", "web", "--json").document]
    assert set(names) == {"web"}


def test_a_model_ranks_and_is_evaluated_compared_and_exported(
    trained: dict[str, Any], stack: EmbeddedStack, folder: Path, tmp_path: Path
) -> None:
    """A model gives equal scores for documents from LETOR, CSV and JSON, and a run can be uploaded again."""
    judged = rankery(stack, "rank", "web:1", folder / "test.txt", "--json").document
    first = judged["queries"][0]
    assert [document["rank"] for document in first["ranking"]] == [1, 2, 3, 4, 5]
    with Client(stack.url) as client:
        query = client.dataset(trained["job"]["spec"]["test_dataset_id"]).query(first["id"])
    rows = [
        {
            "query": "q",
            "document": one.document_id,
            "f1": one.features[0],
            "f2": one.features[1],
            "f3": one.features[2],
        }
        for one in query.documents
    ]
    table = tmp_path / "documents.csv"
    table.write_text(
        "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"
    )
    from_table = rankery(stack, "rank", "web:1", table, "--top", "3", "--json").document
    assert from_table["queries"][0]["ranking"] == first["ranking"][:3]
    documents = [
        {"id": row["document"], "features": {f"f{n}": row[f"f{n}"] for n in (1, 2, 3)}} for row in rows
    ]
    text = json.dumps({"queries": [{"id": "q", "documents": documents}]})
    from_stdin = rankery(stack, "rank", "web:1", "-", "--json", stdin=text).document
    assert from_stdin["queries"][0]["ranking"] == first["ranking"]
    run_file = tmp_path / "web.run"
    assert rankery(stack, "rank", "web:1", folder / "test.txt", "--trec", "--output", run_file).code == 0
    assert run_file.read_text().split("\n")[0].split()[-1] == "rankery-web-1"

    measured = rankery(
        stack, "evaluate", "web:1", "--dataset", folder / "test.txt", "--metric", "ndcg@5", "--json"
    )
    expected = trained["evaluation"]["metrics"]["ndcg@5"]["mean"]
    assert measured.document["metrics"]["ndcg@5"]["mean"] == expected
    compared = rankery(
        stack, "compare", "web:1", run_file, "--dataset", folder / "test.txt", "--metric", "ndcg@5", "--json"
    ).document
    assert [system["name"] for system in compared["systems"]] == ["web:1", "web.run"]
    assert compared["pairs"][0]["metrics"]["ndcg@5"]["difference"] == 0
    saved = tmp_path / "own.txt"
    saved.write_text("tree\nversion=v4\n")
    refused = rankery(stack, "compare", "web:1", saved, "--dataset", folder / "test.txt")
    assert (refused.code, f"`rankery models import {saved} --name NAME" in refused.sentence) == (1, True)
    printed = rankery(stack, "compare", "web:1", run_file, "--dataset", folder / "test.txt").output
    assert printed.startswith("web:1 and web.run have the same ndcg@5")
    assert "web.run − web:1" in printed
    comparisons = rankery(stack, "jobs", "list", "--kind", "compare").output
    words = comparisons.split()  # a narrow table wraps the title
    compare = next(word for word in words if word.startswith("job_"))
    assert {"web:1,", "web.run"} <= set(words)
    shown = rankery(stack, "jobs", "show", compare).output
    assert ["title", "web:1,", "web.run"] in [line.split() for line in shown.splitlines()]

    exported = tmp_path / "model.c"
    options = ("--format", "c", "--model-name", "shop", "-o", exported, "--dataset", "test.txt")
    proof = rankery(stack, "export", "web:1", *options, "--json").document
    assert (proof["parity"]["exact"], proof["bytes"]) == (True, exported.stat().st_size)
    assert "shop" in exported.read_text()
    assert (
        "Every decision equals LightGBM's."
        in rankery(stack, "export", "web:1", "--format", "lightgbm", "-o", tmp_path / "m.txt").output
    )
    formats = rankery(stack, "export", "--list", "--json").document
    assert "vespa" in [one["name"] for one in formats]
    imported = rankery(
        stack, "models", "import", tmp_path / "m.txt", "--name", "brought", "--tag", "team=search", "--json"
    ).document
    assert (imported["source"], imported["tags"]) == ("imported", {"team": "search"})
    again = rankery(stack, "models", "reproduce", "web:1", "--json")
    assert (again.code, again.document["equal"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("train", "train.txt", "--loss", "ndcgloss2++"),
            "there is no loss 'ndcgloss2++'; did you mean 'ndcg-loss2++'?",
        ),
        (
            ("train", "train.txt", "--loss-option", "mo=1"),
            "there is no option of ndcg-loss2++ 'mo'; did you mean 'mu'?",
        ),
        (("train", "train.txt", "--init-model", "absent"), "there is no model 'absent'"),
        (("train", "train.txt", "--leave-out-feature", "f9"), "the dataset has no feature 'f9'"),
        (
            ("train", "train.txt", "--loss-option", "mu=-1"),
            "--loss-option mu: must be greater than or equal to 0",
        ),
        (
            ("train", "train.txt", "--set", "num_leaves=1"),
            "--set num_leaves: must be greater than or equal to 2",
        ),
        (("train", "train.txt", "--best", "--budget", "1s"), "--budget: must be greater than or equal to 10"),
        (("train", "train.txt", "--validation", "train.txt"), "--validation: is the training dataset"),
        (("tune", "train.txt", "--space", "num_leaves=1..3"), "--space num_leaves: must be at least 2"),
        (
            ("train", "zzz"),
            "zzz is not a local file, and there is no dataset 'zzz'; see `rankery datasets",
        ),
        (("train", "trian.txt"), "there is no dataset 'trian.txt'; did you mean 'train.txt'?"),
        (("train", "FOLDER/broken.txt"), "file broken.txt, line 2, column 9: expected a number"),
        (("datasets", "upload", "FOLDER/broken.txt"), "file broken.txt, line 2, column 9: expected a number"),
        (("rank", "web", "FOLDER/broken.txt"), "file broken.txt, line 2, column 9: expected a number"),
        *(
            (
                (*words, "FOLDER/unread.csv"),
                "expected a column for the query, named query_id, queryid, qid or set in"
                """ --columns '{"query": …}', but found only grade, search, f1, f2, f3""",
            )
            for words in (("rank", "web"), ("train",), ("evaluate", "web", "--dataset"))
        ),
        (("rank", "web", "none.csv"), "none.csv cannot be read: No such file or directory"),
        (("models", "show", "absent"), "there is no model 'absent'"),
        (("evaluate", "web@absent", "--dataset", "train.txt"), "there is no model 'web@absent'"),
        (
            ("evaluate", "web", "--dataset", "train.txt", "--metric", "ndgc"),
            "--metric: unknown metric 'ndgc'",
        ),
        (("jobs", "cancel", "job_1"), "there is no job 'job_1'"),
        (
            ("export", "web", "--format", "word", "-o", "x"),
            "--format: unknown format 'word'; known are lightgbm",
        ),
        (
            ("export", "web", "--format", "c", "-o", "no/x.c"),
            "no/x.c cannot be written: No such file or directory",
        ),
    ],
)
def test_a_refusal_is_reported_in_one_sentence(
    trained: dict[str, Any], stack: EmbeddedStack, folder: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    """The error has the place and a remedy, and standard output is empty."""
    done = rankery(stack, *(one.replace("FOLDER", str(folder)) for one in arguments))
    assert (done.code, done.output) == (1, "")
    assert sentence in done.sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("train", "train.txt", "--validation", "3"),
            "a share of the queries must be above 0 and below 1, not 3; give a dataset whose name is",
        ),
        (
            ("train", "train.txt", "--validation", "none", "--early-stopping", "3"),
            "--early-stopping needs --validation data",
        ),
        (("train", "train.txt", "--set", "num_leaves"), "--set takes name=value, not 'num_leaves'"),
        (("models", "label", "web:1", "--set", "team"), "--set takes name=value, not 'team'"),
        (("train", "train.txt", "--scorer", "forest"), "--scorer must be one of "),
        (
            ("tune", "train.txt", "--space", "mu"),
            "--space takes NAME=LOW..HIGH",
        ),
        (("datasets", "upload", "FOLDER/train.txt", "--columns", "["), "--columns is not valid JSON"),
        (
            ("experiments", "run", "lambdaloss-2018", "--folds", "one"),
            "--folds one: write numbers like",
        ),
    ],
)
def test_invalid_values_exit_with_code_2(
    trained: dict[str, Any], stack: EmbeddedStack, folder: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    """Invalid values and unknown options have the same exit code, wherever they are parsed."""
    done = rankery(stack, *(one.replace("FOLDER", str(folder)) for one in arguments))
    assert (done.code, done.output) == (2, "")
    assert sentence in done.errors


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("models", "promote", "nothing:1"), {"status": 404, "detail": "there is no model 'nothing:1'"}),
        (("train", "FOLDER/broken.txt"), {"detail": "file broken.txt, line 2, column 9: expected a number"}),
        (("rank", "web", "none.csv"), {"detail": "none.csv cannot be read: No such file or directory"}),
    ],
)
def test_programs_get_the_problem_as_json(
    trained: dict[str, Any],
    stack: EmbeddedStack,
    folder: Path,
    arguments: tuple[str, ...],
    problem: dict[str, Any],
) -> None:
    """Standard output has one line of JSON with the problem, and standard error has the sentence."""
    done = rankery(stack, *(one.replace("FOLDER", str(folder)) for one in arguments), "--json")
    assert done.code == 1
    (line,) = done.output.splitlines()
    printed_problem = json.loads(line)["problem"]
    assert problem.items() - {("detail", problem["detail"])} <= printed_problem.items()
    assert problem["detail"] in printed_problem["detail"]
    assert problem["detail"] in done.sentence


def test_an_unreachable_service_is_reported_in_one_sentence() -> None:
    """The error names the URL from RANKERY_URL or --url."""
    done = run("jobs", "list", RANKERY_URL="http://127.0.0.1:9")
    assert done.code == 1
    assert done.sentence.startswith("no service answers at http://127.0.0.1:9 (")
    for url in ("nonsense", "http://a..b", "http://127.0.0.1:9?x=1"):
        refused = run("jobs", "list", "--url", url)
        assert refused.sentence.startswith(f"'{url}' is not the URL of a service")


def test_a_certificate_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    """The error names the variable for the authority of the certificate, with which the server is reached."""
    with WebServer(tmp_path) as server:
        done = run("jobs", "list", RANKERY_URL=server.url)
        assert (done.code, done.output) == (1, "")
        assert done.sentence.endswith("name the file of its authority in SSL_CERT_FILE")
        trusted = run("jobs", "list", RANKERY_URL=server.url, SSL_CERT_FILE=str(server.authority))
        assert trusted.sentence.startswith("there is no Rankery service at https://localhost:")


def test_a_wrong_url_is_reported_in_one_sentence(stack: EmbeddedStack) -> None:
    """The URL of the API, and that of another server or page, are refused with the necessary change."""
    assert run("jobs", "list", RANKERY_URL=f"{stack.url}/v1").sentence.endswith("leave out /v1")
    done = run("jobs", "list", RANKERY_URL=f"{stack.url}/elsewhere")
    assert (done.code, done.output) == (1, "")
    assert done.sentence.startswith(f"there is no Rankery service at {stack.url}/elsewhere: ")


def test_absent_features_are_named(trained: dict[str, Any], stack: EmbeddedStack, tmp_path: Path) -> None:
    """Rankings and comparisons of a table whose columns were renamed come with a notice."""
    path = tmp_path / "renamed.csv"
    path.write_text(as_table(JUDGED).replace("search", "query").replace("grade", "label").replace("f3", "g"))
    done = rankery(stack, "rank", "web:1", path, "--json")
    assert (done.code, done.document["model"]["name"]) == (0, "web")
    assert "no document has f3: 1 of the 3 features of web:1 are missing values" in done.sentence
    assert "no document has" not in rankery(stack, "rank", "web:1", "train.txt").errors
    run_file = tmp_path / "old.run"
    run_file.write_text("".join(f"{query} Q0 1 1 1.0 old\n" for query in range(1, 41)))
    compared = rankery(stack, "compare", "web:1", run_file, "--dataset", path)
    assert "1 of 3 features that web:1 uses is not in the dataset" in compared.output


def test_the_shell_completes_names_and_ids(trained: dict[str, Any], stack: EmbeddedStack) -> None:
    """Shell completion offers names and ids of models, datasets and jobs."""
    offered = {}
    # bash splits web:1 into the words web, : and 1, and completes the last of them.
    begun = (("models show", "web"), ("models show web", ":"), ("datasets show", "tr"), ("jobs show", "job_"))
    for words, incomplete in begun:
        typed = ["rankery", *words.split(), incomplete]
        done = run(
            _RANKERY_COMPLETE="complete_bash",
            COMP_WORDS="\n".join(typed),
            COMP_CWORD=str(len(typed) - 1),
            RANKERY_DATA_DIR=str(stack.data_dir),
        )
        offered[words] = done.output.split("\n")
    assert "web:1" in offered["models show"]
    assert "1" in offered["models show web"]
    assert "train.txt" in offered["datasets show"]
    assert trained["job"]["id"] in offered["jobs show"]
