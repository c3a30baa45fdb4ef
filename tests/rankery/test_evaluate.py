"""`rankery evaluate` on files, without a service."""

import csv
import json
import math
from pathlib import Path

import pytest
import pytrec_eval

from tests.rankery.cli.commands import run

QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 a 0\nq2 0 d 1\nq3 0 e 1\n"
GOOD = "q1 Q0 a 1 3 me\nq1 Q0 c 2 2 me\nq1 Q0 b 3 1 me\nq2 Q0 d 1 2 me\nq2 Q0 a 2 1 me\nq9 Q0 z 1 1 me\n"
POOR = "q1 Q0 b 1 3 me\nq1 Q0 c 2 2 me\nq1 Q0 x 3 2 me\nq2 Q0 a 1 2 me\nq2 Q0 d 2 1 me\nq3 Q0 f 1 1 me\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments and two runs."""
    for name, content in (("qrels", QRELS), ("good", GOOD), ("poor", POOR)):
        (tmp_path / name).write_text(content)
    return tmp_path


def _nested(text: str, id_column: int, value_column: int) -> dict[str, dict[str, float]]:
    nested: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        words = line.split()
        nested.setdefault(words[0], {})[words[id_column]] = float(words[value_column])
    return nested


def test_values_equal_those_of_pytrec_eval(folder: Path) -> None:
    """Every query has pytrec_eval's values, and a judged query without a result counts as 0."""
    arguments = ("--run", str(folder / "good"), "--run", str(folder / "poor"), "--metric", "map")
    done = run(
        "evaluate",
        *("--qrels", str(folder / "qrels"), *arguments, "--metric", "ndcg", "--metric", "bpref"),
        *("--per-query", str(folder / "values.csv"), "--json"),
    )
    assert done.code == 0, done.errors
    judged = {
        query: {document: int(label) for document, label in labels.items()}
        for query, labels in _nested(QRELS, 2, 3).items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg", "bpref"})
    theirs = {name: evaluator.evaluate(_nested(run, 2, 4)) for name, run in (("good", GOOD), ("poor", POOR))}
    with (folder / "values.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    for row in rows:
        expected = theirs[row["run"]].get(row["query_id"], {})
        for metric in ("map", "ndcg", "bpref"):
            assert float(row[metric]) == pytest.approx(expected.get(metric, 0.0), abs=1e-9)
    document = json.loads(done.output)
    assert document["contract"]["preset"] == "trec_eval"
    assert [run["queries_without_results"] for run in document["runs"]] == [1, 0]
    assert [run["unknown_queries"] for run in document["runs"]] == [1, 0]
    counts = [(run["judged_documents"], run["retrieved_documents"]) for run in document["runs"]]
    assert counts == [(5, 5), (4, 6)]
    assert document["sentence"] == document["pairs"][0]["sentence"]


def test_tables_count_omitted_queries(folder: Path) -> None:
    """The tables have means with intervals, the conclusion, and counts of queries that do not match."""
    runs = ("--run", str(folder / "good"), "--run", str(folder / "poor"))
    done = run("evaluate", "--qrels", str(folder / "qrels"), *runs)
    assert done.code == 0, done.errors
    assert "precision@10" in done.output
    assert "good: judged queries without a result, counted, as with trec_eval -c: 1" in done.output
    assert "good: queries that are not judged, left out: 1" in done.output
    assert "poor: 4 of 6 retrieved documents are judged" in done.output
    assert "poor − good" in done.output


def test_options_and_metric_names_of_trec_eval_are_accepted(folder: Path) -> None:
    """-l is the lowest relevant label, -M the number of documents, and -J omits unjudged documents."""
    names = ("P_5", "recip_rank", "ndcg_cut_2", "map", "Rprec", "success_1", "infAP", "iprec_at_recall_0.50")
    metrics = [word for name in (*names, "gm_map") for word in ("--metric", name)]
    for level, depth, judged_only in (
        ("1", None, False),
        ("2", None, False),
        ("1", "2", False),
        ("1", None, True),
    ):
        limited = ["-l", level, *(("-M", depth) if depth else ()), *(("-J",) if judged_only else ())]
        files = ("--qrels", str(folder / "qrels"), "--run", str(folder / "poor"))
        done = run("evaluate", *files, *metrics, *limited, "--json")
        assert done.code == 0, done.errors
        judged = {
            query: {document: int(label) for document, label in labels.items()}
            for query, labels in _nested(QRELS, 2, 3).items()
        }
        ranked = {
            query: dict(sorted(scores.items(), key=lambda one: one[::-1], reverse=True)[: int(depth or 99)])
            for query, scores in _nested(POOR, 2, 4).items()
        }
        wanted = {"P.5", "recip_rank", "ndcg_cut.2", "map", "Rprec", "success", "infAP", "gm_map"}
        evaluator = pytrec_eval.RelevanceEvaluator(
            judged,
            {*wanted, "iprec_at_recall"},
            relevance_level=int(level),
            judged_docs_only_flag=judged_only,
        )
        theirs = evaluator.evaluate(ranked)
        metrics_by_name = json.loads(done.output)["runs"][0]["metrics"]
        for name in names:
            expected = sum(values[name] for values in theirs.values()) / 3
            assert metrics_by_name[name]["mean"] == pytest.approx(expected, abs=1e-9), name
        logarithms = [values["gm_map"] for values in theirs.values()]
        assert metrics_by_name["gm_map"]["mean"] == pytest.approx(math.exp(sum(logarithms) / 3), abs=1e-12)


def test_a_geometric_mean_is_not_compared(folder: Path) -> None:
    """A geometric mean is refused before evaluation, with a metric to use instead."""
    runs = ("--run", str(folder / "good"), "--run", str(folder / "poor"))
    done = run("evaluate", "--qrels", str(folder / "qrels"), *runs, "--metric", "gm_map")
    assert done.code != 0
    assert "geometric mean" in done.errors
    assert "use map" in done.errors


def test_ir_measures_names_are_replaced_by_our_metric_names(folder: Path) -> None:
    """Each metric is shown once, in the given order."""
    files = ("--qrels", str(folder / "qrels"), "--run", str(folder / "good"), "--json")
    done = run("evaluate", *files, "--metric", "RR", "--metric", "nDCG@10", "--metric", "mrr")
    assert list(json.loads(done.output)["runs"][0]["metrics"]) == ["mrr", "ndcg@10"]


def test_only_retrieved_leaves_queries_out(folder: Path) -> None:
    """--only-retrieved omits queries without results, as trec_eval without -c does."""
    files = ("--qrels", str(folder / "qrels"), "--run", str(folder / "good"), "--metric", "mrr", "--json")
    means = []
    for more in ((), ("--only-retrieved",)):
        done = run("evaluate", *files, *more)
        summary = json.loads(done.output)["runs"][0]["metrics"]["mrr"]
        means.append((summary["mean"], summary["queries"]))
    assert means == [(pytest.approx(2 / 3), 3), (1.0, 2)]
    done = run("evaluate", *files[:-1], "--only-retrieved")
    assert "good: judged queries without a result, left out: 1" in done.output


@pytest.mark.parametrize("option", [("--only-retrieved",), ("--per-query", "values.csv")])
def test_options_of_runs_are_refused_for_models(option: tuple[str, ...]) -> None:
    """An option that would have no effect is refused before the service is asked."""
    done = run("evaluate", "web", "--dataset", "test.txt", *option, "--url", "http://127.0.0.1:1")
    assert done.code == 2
    assert "--only-retrieved and --per-query apply only to --qrels and --run" in done.errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": "q1 Q0 a 1 high me\n"}, "line 1, column 11: expected a score"),
        ({"run": "q7 Q0 a 1 1 me\n"}, "run with qrels: ranks none of the queries"),
        ({"qrels": "q1 0 a 1\nq1 0 b\n"}, "line 2, column 1: expected 4 words"),
        (
            {"qrels": "q1 0 a 1\nq1 0 a 2\n"},
            "line 2, column 6: expected each document once per query",
        ),
        ({"qrels": GOOD}, "a TREC run"),
        ({"per-query": "no/folder.csv"}, "no/folder.csv cannot be written: No such file or directory"),
        ({"metric": "ndgc"}, "unknown metric 'ndgc'; did you mean ndcg?"),
        ({"preset": "trec"}, "unknown preset 'trec'"),
        ({"columns": '{"lable": "grade"}'}, "rankery: --columns lable: unknown; did you mean label?"),
    ],
)
def test_an_input_error_is_reported_in_one_sentence(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    """The error is on standard error, with exit code 1 and without a traceback."""
    for name, content in ({"qrels": QRELS, "run": GOOD} | change).items():
        (tmp_path / name).write_text(content)
    options = [f"--{name}={value}" for name, value in change.items() if name not in ("qrels", "run")]
    done = run("evaluate", f"--qrels={tmp_path / 'qrels'}", f"--run={tmp_path / 'run'}", *options)
    assert done.code == 1
    assert done.output == ""
    (line,) = done.errors.splitlines()
    assert line.startswith("rankery: ")
    assert message in line
