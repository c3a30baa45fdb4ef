"""Data in all supported formats, through a running service."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightgbm
import pandas
import pytest

from rankery.client import Client, Dataset, Job
from rankery.client.arguments import Columns
from rankery.errors import JobFailed
from tests.integration.requests import not_none
from tests.integration.waiting import LIMIT_SECONDS

pytestmark = pytest.mark.embedded

ROWS = [(query, document, (query + document) % 3) for query in range(30) for document in range(8)]


def _letor(rows: list[tuple[int, int, int]]) -> str:
    return "".join(
        f"{label} qid:{query} 1:{label + document / 10} 2:{query % 7} 3:{document} # d{document}\n"
        for query, document, label in rows
    )


def _csv(rows: list[tuple[int, int, int]], labels: Mapping[int, str] = {}) -> str:
    lines = ["grade,query_id,docid,doc_weight,split,relevance_hint,age,position"]
    for query, document, label in rows:
        part = ("train", "vali", "test")[query % 3]
        weight = 1 + document % 4
        hint, grade = label + document / 10, labels.get(label, str(label))
        lines.append(f"{grade},q{query},d{document},{weight},{part},{hint},{query % 7},{document}")
    return "\n".join(lines) + "\n"


def _ready(dataset: Dataset) -> Dataset:
    return dataset.wait(timeout_seconds=LIMIT_SECONDS)


def _train(client: Client, dataset_id: str, **changes: Any) -> Job:
    request = {
        "kind": "train",
        "model_name": "dataset-forms",
        "dataset_id": dataset_id,
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": 4, "min_data_in_leaf": 5},
        "metrics": ["ndcg@10"],
    }
    return client.submit(request | changes).wait(timeout_seconds=LIMIT_SECONDS)


@pytest.fixture(scope="module")
def table(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A ready CSV dataset with weights, a column of splits and a negative label."""
    path = tmp_path_factory.mktemp("table") / "judged.csv"
    path.write_text(_csv(ROWS, {0: "-1"}))
    return _ready(client.upload_dataset(path, columns={"label": "grade"}))


@pytest.mark.parametrize(
    ("file", "side", "counts"),
    [
        ("lightgbm-rank/train.letor.txt", None, (201, 3005, 300)),
        ("lightgbm-rank/rank.train", "lightgbm-rank/rank.train.query", (201, 3005, 300)),
        ("fastrank-trec-news/trec_news_2018.train", None, (45, 782, 5)),
        ("tfranking-libsvm/train.txt", None, (27, 119, 136)),
    ],
)
def test_public_files_become_ready(
    client: Client, shared_data: Path, file: str, side: str | None, counts: tuple[int, int, int]
) -> None:
    """Public files have the published sizes, a report and queries."""
    sizes = {} if side is None else {"file": shared_data / side}
    dataset = _ready(client.upload_dataset(shared_data / file, query_sizes=sizes))
    statistics = not_none(dataset.statistics)
    assert (statistics["queries"], statistics["documents"], statistics["features"]) == counts
    assert all(finding.severity != "error" for finding in not_none(dataset.findings))
    first = dataset.queries().first(1)[0]
    shown = dataset.query(first.query_id)
    assert len(shown.documents) == first.documents
    assert len(shown.documents[0].features) == counts[2]


def test_both_parts_of_one_upload_become_ready(client: Client, tmp_path: Path) -> None:
    """Both parts become ready and are linked; the findings of a job list shared queries and documents."""
    (tmp_path / "train.txt").write_text(_letor(ROWS))
    (tmp_path / "test.txt").write_text(_letor(ROWS[:80]))
    parts = {"train": tmp_path / "train.txt", "test": tmp_path / "test.txt"}
    train = _ready(client.upload_dataset(parts=parts, name="fold"))
    test = _ready(client.dataset(not_none(train.parts)["test"]))
    assert test.name == "fold test"
    job = _train(client, train.id, test_dataset_id=test.id)
    assert {"shared-queries", "shared-documents"} <= {finding.code for finding in not_none(job.findings)}


def test_the_same_content_is_read_once(client: Client, tmp_path: Path) -> None:
    """A second upload of the same bytes shares the content; the deletion of one does not affect the other."""
    path = tmp_path / "a.txt"
    path.write_text(_letor(ROWS[:40]) + "1 qid:same 1:1\n")
    first, second = (_ready(client.upload_dataset(path)) for _ in range(2))
    assert first.digest == second.digest
    assert first.statistics == second.statistics
    first.delete()
    assert second.query("same").total == 1
    other = _ready(client.upload_dataset(path, non_contiguous_queries="error"))
    assert other.digest != second.digest


def test_every_mistake_is_reported(client: Client, tmp_path: Path) -> None:
    """The invalid dataset lists the wrong lines."""
    path = tmp_path / "wrong.txt"
    path.write_text("1 qid:1 1:1\n1 1:2\n1 qid:1 1:x\n1 qid:2 1:1\n1 qid:1 1:1\n")
    dataset = client.upload_dataset(path)
    with pytest.raises(JobFailed, match=r"line 2, column 3: expected qid:.* \(and 1 more\)"):
        _ready(dataset)
    problem = not_none(dataset.refresh().problem)
    assert [(error["line"], error["column"]) for error in not_none(problem.errors)] == [(2, 3), (3, 9)]


def test_a_table_keeps_its_columns(client: Client, table: Dataset) -> None:
    """Roles are determined by name, text columns are kept for queries, and labels are unchanged."""
    assert table.source["format"] == "csv"
    assert not_none(table.statistics)["features"] == 3
    assert not_none(table.statistics)["label_range"]["minimum"] == -1
    assert set(not_none(table.statistics)["query_columns"]) == {"split"}
    assert "negative-labels" in {finding.code for finding in not_none(table.findings)}
    shown = table.query("q3")
    assert shown.columns == {"split": "train"}
    assert [document.weight for document in shown.documents] == [1, 2, 3, 4] * 2


def test_parts_are_held_out_by_column_and_fold(client: Client, table: Dataset) -> None:
    """Test queries are selected first, then the validation fold; the evaluation covers the test queries."""
    job = _train(
        client,
        table.id,
        test={"column": "split", "values": ["test"]},
        validation={"folds": 4, "fold": 2},
        label_map={"-1": 0},
    )
    evaluation = job.evaluation()
    assert evaluation.metrics["ndcg@10"].queries == 10
    assert set(job.history().curves) == {"train", "validation"}
    assert {item.query_id for item in job.ranking().queries()} == {f"q{query}" for query in range(2, 30, 3)}


@pytest.mark.parametrize("loss", ["listnet", "lambdarank", "mse"])
def test_document_weights_reach_the_loss(client: Client, table: Dataset, tmp_path: Path, loss: str) -> None:
    """Without the weight column, the trained model is different."""
    path = tmp_path / "unweighted.csv"
    path.write_text(_csv(ROWS, {0: "-1"}))
    unweighted = _ready(client.upload_dataset(path, columns={"label": "grade", "ignore": ["doc_weight"]}))
    changes = {"loss": {"name": loss}, "label_map": {"-1": 0}}
    jobs = [_train(client, dataset.id, **changes) for dataset in (table, unweighted)]
    one, other = (job.model() for job in jobs)
    assert one.sha256 != other.sha256


def test_a_category_goes_from_csv_to_a_ranking_by_text(client: Client, tmp_path: Path) -> None:
    """The scores by text equal those of LightGBM's Booster for the exported model.

    The test set has the same brands in another order, hence other codes, and one additional brand.
    """
    brands = ("acme", "Zürich", "neo", "omni")
    header = "label,query_id,docid,age,brand"

    def lines(order: tuple[str, ...], queries: range) -> list[str]:
        return [
            f"{2 * (order[(query + document) % 4] in ('acme', 'neo'))},q{query},d{document},{document % 3},"
            f"{order[(query + document) % 4]}"
            for query in queries
            for document in range(8)
        ]

    columns: Columns = {"categorical_features": ["brand"]}
    ids = []
    for name, order, queries in (("train", brands, range(30)), ("test", brands[::-1], range(30, 40))):
        path = tmp_path / f"{name}.csv"
        extra = ["0,q99,d1,1,new", "2,q99,d2,1,acme"] if name == "test" else []
        path.write_text("\n".join([header, *lines(order, queries), *extra]) + "\n")
        ids.append(_ready(client.upload_dataset(path, columns=columns)).id)
    shape = {"num_iterations": 4, "min_data_in_leaf": 5, "min_data_per_group": 5}
    job = _train(client, ids[0], model_name="brands", test_dataset_id=ids[1], hyperparameters=shape)
    assert [finding.code for finding in not_none(job.findings) if finding.code == "unseen-categories"]
    model = client.model(job.made("model_id"))
    booster = lightgbm.Booster(model_str=model.export("lightgbm", tmp_path / "model.txt").read_text())
    assert booster.pandas_categorical == [list(brands)]
    candidates = [*brands, "new", None]
    known_brands = [brand if brand in brands else None for brand in candidates]
    frame = pandas.DataFrame({"age": [1.0] * 6, "brand": pandas.Categorical(known_brands, categories=brands)})
    expected = dict(zip(candidates, booster.predict(frame, raw_score=True), strict=True))
    documents = [{"id": str(brand), "features": {"age": 1, "brand": brand}} for brand in candidates]
    (ranked,) = client.rank(model, [{"id": "q", "documents": documents}]).queries
    assert {each.id: each.score for each in ranked.ranking} == {
        str(b): score for b, score in expected.items()
    }
    texts = pandas.DataFrame({"age": [1.0] * 6, "brand": pandas.Categorical(candidates)})
    by_frame = client.rank(model, texts)
    assert {
        candidates[row]: score for row, score in zip(by_frame["row"], by_frame["score"], strict=True)
    } == expected
