"""`rankery doctor` on files, without a service."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankery.candidates import read_candidates
from rankery.client.uploads import Upload
from rankery.doctor import examine_files
from rankery.errors import UserError
from rankery.keys import open_store
from tests.rankery.cli.commands import JUDGED, run

NOTHING_TO_LEARN = "".join(f"0 qid:{query} 1:{document}\n" for query in (1, 2) for document in (1, 2))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of judged documents: training data, test data, and data with one label."""
    for name, content in (
        ("train.txt", JUDGED),
        ("test.txt", "".join(JUDGED.splitlines(keepends=True)[:100])),
        ("flat.txt", NOTHING_TO_LEARN),
    ):
        (tmp_path / name).write_text(content)
    return tmp_path


def test_findings_have_severity_and_examples(folder: Path) -> None:
    """The output has sizes, then findings with severity and examples; warnings exit with 0."""
    done = run("doctor", folder / "train.txt", "--test", folder / "test.txt", NO_COLOR="1")
    assert done.code == 0
    first, *_ = done.output.splitlines()
    assert first == f"{folder}/train.txt: 40 queries, 200 documents, 3 features, letor"
    _, compared = done.output.split(f"{folder}/train.txt compared with {folder}/test.txt:")
    assert "warning" in compared
    assert "All 20 queries of the test data have the id of a training query" in compared
    assert "query 1, 2, 3, 4, 5, …" in compared


def test_a_query_file_is_found_beside_its_data(tmp_path: Path) -> None:
    """The query file has LightGBM's default name or is given; a table with a query column needs none."""
    path = tmp_path / "rank.train"
    path.write_text("1 1:0.5\n0 1:0.25\n1 1:2\n")
    alone = run("doctor", path)
    assert (alone.code, alone.output) == (1, "")
    assert "or a query file with the number of documents of each query" in alone.sentence
    sizes = tmp_path / "sizes"
    sizes.write_text("3\n")
    (file,) = run("doctor", path, "--query-sizes", sizes, "--json").document["files"]
    assert (file["statistics"]["queries"], file["query_sizes"]) == (1, "sizes")
    (tmp_path / "rank.train.query").write_text("2\n1\n")
    done = run("doctor", path, NO_COLOR="1")
    first, *_ = done.output.splitlines()
    assert first == f"{path}: 2 queries, 3 documents, 1 feature, lightgbm with rank.train.query"
    path.write_text("label,search,f1\n1,a,0.5\n0,b,0.25\n1,c,2\n")
    (table,) = run("doctor", path, "--columns", '{"query": "search"}', "--json").document["files"]
    assert (table["statistics"]["queries"], table["query_sizes"]) == (3, None)
    assert run("doctor", path, path, "--query-sizes", sizes).code == 2


def test_an_error_finding_exits_with_1(folder: Path) -> None:
    """Errors exit with 1, so that a script stops before it trains on unusable data."""
    done = run("doctor", folder / "flat.txt", "--json")
    assert done.code == 1
    (file,) = done.document["files"]
    assert file["findings"][0]["severity"] == "error"
    assert file["statistics"]["queries"] == 2


def test_examples_end_with_an_ellipsis_only_where_there_are_more(tmp_path: Path) -> None:
    """The only feature with missing values is listed without an ellipsis."""
    path = tmp_path / "judged.csv"
    rows = [f"{row % 3},q{row // 9},{'' if row % 5 else row},{row * 7 % 11}" for row in range(90)]
    path.write_text("\n".join(["label,query_id,bm25,price", *rows, ""]))
    done = run("doctor", path, COLUMNS="120", NO_COLOR="1")
    assert "72 of 180 values are missing" in done.output
    assert "feature bm25\n" in done.output


def test_several_files_are_compared_with_each_other(folder: Path) -> None:
    """Without --test, every pair of files is compared once."""
    done = run("doctor", folder / "train.txt", folder / "test.txt", folder / "flat.txt", "--json")
    pairs = [(Path(pair["train"]).stem, Path(pair["test"]).stem) for pair in done.document["pairs"]]
    assert pairs == [("train", "test"), ("train", "flat"), ("test", "flat")]


def test_one_file_for_training_and_test_is_refused(folder: Path) -> None:
    """A mistyped name must not look like test data without findings."""
    done = run("doctor", folder / "train.txt", "--test", folder / "train.txt")
    assert (done.code, done.output) == (1, "")
    assert done.sentence.endswith("train.txt is the training file and the test file; name another test file")
    both = [folder / "train.txt", folder / "test.txt"]
    compared = run("doctor", *both, "--test", both[1], "--json").document["pairs"]
    assert [Path(pair["train"]).stem for pair in compared] == ["train"]


@pytest.mark.parametrize(
    ("content", "options", "code", "sentence"),
    [
        ("1 qid:1 1:0.5\n0 qid:1 1:no\n", (), 1, "file bad.txt, line 2, column 9: expected a number"),
        ("a,query_id\n1,2\n", (), 1, "line 1: expected a column for the label"),
        (
            JUDGED,
            ("--columns", "[1]"),
            2,
            '--columns must be a JSON object such as {"label": "grade"}, not [1]',
        ),
        (JUDGED, ("--columns", "{"), 2, "--columns is not valid JSON"),
    ],
)
def test_an_unreadable_input_is_reported_in_one_sentence(
    tmp_path: Path, content: str, options: tuple[str, ...], code: int, sentence: str
) -> None:
    """The error names the file, the line and the column."""
    path = tmp_path / "bad.txt"
    path.write_text(content)
    done = run("doctor", path, *options)
    assert (done.code, done.output) == (code, "")
    assert sentence in done.sentence
    assert len(done.errors.splitlines()) == 1


def test_errors_of_a_parquet_file_count_rows(tmp_path: Path) -> None:
    """A Parquet file has no lines: messages and tables name rows, and the JSON has the unit."""
    path = tmp_path / "judged.parquet"
    columns = {"label": ["2", "bad", "worse"], "query_id": ["q1"] * 3, "bm25": [1.5, 2.0, 3.0]}
    pq.write_table(pa.table(columns), path)
    done = run("doctor", path, NO_COLOR="1", COLUMNS="100")
    assert done.sentence.startswith("file judged.parquet, row 2, column label: expected a label")
    assert "rows" in done.output.split()
    problem = run("doctor", path, "--json").document["problem"]
    assert [(error["unit"], error["line"]) for error in problem["errors"]] == [("row", 2), ("row", 3)]


def test_all_errors_of_a_table_are_listed_by_cause(tmp_path: Path) -> None:
    """Standard output has the errors by cause and column; with --json it has each of them."""
    path = tmp_path / "judged.csv"
    path.write_text('label,query_id,bm25\n2,q1,1.5\nbad,q1,2\n1,q1,"3,5"\n0,q2,n.v.\n1,q2,unknown\n1,q2\n')
    done = run("doctor", path, NO_COLOR="1", COLUMNS="100")
    assert done.code == 1
    assert [line.split() for line in done.output.splitlines() if "bm25" in line] == [
        ["Not", "a", "number", "bm25", "2", "5,", "6", "n.v.,", "unknown"],
        ["Decimal", "comma", "instead", "of", "a", "point", "bm25", "1", "4", "3,5"],
    ]
    assert done.sentence.endswith("found 'bad' (and 4 more)")
    problem = run("doctor", path, "--json").document["problem"]
    assert [error["line"] for error in problem["errors"]] == [3, 4, 5, 6, 7]
    assert problem["causes"][0]["count"] == 2


def test_all_errors_of_a_text_are_listed(tmp_path: Path) -> None:
    """Errors of LETOR text have no causes, and are listed line by line."""
    path = tmp_path / "judged.txt"
    path.write_text("1 qid:1 1:0.5\n0 qid:1 1:no\n0 qid:1 1:yes\n")
    done = run("doctor", path, NO_COLOR="1")
    assert [line.split()[:2] for line in done.output.splitlines() if "expected a number" in line] == [
        ["2", "9"],
        ["3", "9"],
    ]


def test_commands_without_a_service_print_the_problem_as_json(tmp_path: Path) -> None:
    """With --json, standard output has one line with the problem."""
    path = tmp_path / "bad.txt"
    path.write_text("no\n")
    revoke = ("keys", "revoke", "key_1", "--data-dir", tmp_path / "data")
    for done in (run("doctor", path, "--json"), run(*revoke, "--json")):
        assert done.code == 1
        assert done.document["problem"]["detail"] == done.sentence


def test_damaged_artifacts_of_a_data_folder_are_named(tmp_path: Path) -> None:
    """Damaged artifacts are named, and the command exits with 1 until the files are restored."""
    data_dir = tmp_path / "data"
    with open_store(data_dir) as store, store.begin() as tx:
        dataset = tx.datasets.add("d", {"kind": "upload"})
        key = "data/job_1-1/data.parquet"
        tx.datasets.mark_ready(dataset.id, statistics={}, digest="d", data_key=key)
        store.artifacts.write_bytes(key, b"good")
        tx.artifacts.record_checksum(key, hashlib.sha256(b"good").hexdigest(), 4)
    stored = data_dir / "artifacts" / key
    stored.write_bytes(b"evil")
    done = run("doctor", "--storage", "--data-dir", data_dir, "--json")
    assert done.code == 1
    assert done.document["damaged"] == [key]
    done = run("doctor", "--storage", "--data-dir", data_dir, NO_COLOR="1")
    assert done.code == 1
    assert "1 artifacts: 1 damaged, 0 missing" in done.output
    assert key in done.output
    stored.write_bytes(b"good")
    assert run("doctor", "--storage", "--data-dir", data_dir).code == 0


@pytest.mark.parametrize("command", [("doctor", "--storage"), ("keys", "list"), ("keys", "revoke", "key_1")])
def test_a_folder_without_a_database_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    """A misspelt data folder is not reported as one without damage or keys, and nothing is created."""
    done = run(*command, "--data-dir", tmp_path / "none")
    assert done.code == 1
    assert f"there is no database {tmp_path}/none/rankery.db: name the data folder" in done.sentence
    assert not list(tmp_path.iterdir())


def test_files_and_the_storage_exclude_each_other(folder: Path) -> None:
    """The command examines either files or the storage."""
    for arguments in ((), (folder / "train.txt", "--storage")):
        done = run("doctor", *arguments)
        assert done.code == 2
        assert "give judged files, or --storage" in done.errors
    for option, value in (("--test", folder / "test.txt"), ("--format", "csv"), ("--columns", "{}")):
        done = run("doctor", "--storage", option, value)
        assert done.code == 2
        assert "--storage examines no files" in done.errors


def test_a_folder_is_examined_by_its_parts(tmp_path: Path) -> None:
    """The training file is compared with the others, the corpus is named, and two folders are refused."""
    fold = tmp_path / "Fold1"
    fold.mkdir()
    for name in ("train.txt", "vali.txt", "test.txt"):
        (fold / name).write_text(JUDGED)
    document = run("doctor", fold, "--json").document
    assert [Path(file["file"]).name for file in document["files"]] == ["train.txt", "vali.txt", "test.txt"]
    assert [Path(pair["test"]).name for pair in document["pairs"]] == ["vali.txt", "test.txt"]
    assert document["corpus"].endswith("Printed numbers are for orientation only.")
    assert run("doctor", fold, tmp_path).code == 2
    assert "folders in it: Fold1" in run("doctor", tmp_path).sentence


@pytest.mark.parametrize(
    "read",
    [
        lambda path: examine_files([path], []),
        lambda path: read_candidates(path, ["f1"]),
        lambda path: Upload({"file": path}, {}).opened(lambda _: None).__enter__(),
    ],
    ids=["check", "rank", "upload"],
)
def test_a_pipe_is_refused(read: Callable[[Path], object]) -> None:
    """A file is read several times, and sent again after a lost connection; a pipe gives its bytes once."""
    reader, writer = os.pipe()
    os.write(writer, JUDGED[:1000].encode())
    os.close(writer)
    with pytest.raises(UserError, match="a pipe; write it to a file"):
        read(Path(f"/dev/fd/{reader}"))
    os.close(reader)


@pytest.mark.parametrize(
    ("ending", "remedy"), [("weight", "document_weight"), ("position", "ranks"), ("init", "Continue")]
)
def test_files_that_lightgbm_would_read_are_named(folder: Path, ending: str, remedy: str) -> None:
    """A file beside the data that LightGBM reads and Rankery ignores is a finding with a remedy."""
    (folder / f"train.txt.{ending}").write_text("1\n")
    (file,) = run("doctor", folder / "train.txt", "--json").document["files"]
    (found,) = [finding for finding in file["findings"] if finding["code"] == "ignored-file"]
    assert (found["severity"], found["title"]) == ("warning", f"train.txt.{ending} is ignored")
    assert remedy in found["advice"]
