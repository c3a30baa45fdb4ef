"""The client's calls with frames, arrays, boosters, scores and names."""

import lightgbm as lgb
import numpy as np
import pandas
import polars
import pytest

from rankery.client import Client, Dataset, Hyperparameters, Model
from rankery.errors import DataUnusable, DataWarning, InvalidArgument, NothingFound, RankeryApiError
from tests.integration.waiting import LIMIT_SECONDS

pytestmark = pytest.mark.embedded

QUERIES, DOCUMENTS = 20, 8
FEATURES = ["bm25", "age", "brand"]
TREES: Hyperparameters = {"num_iterations": 5, "min_data_in_leaf": 2}


@pytest.fixture(scope="module")
def frame() -> pandas.DataFrame:
    """Judged documents with a categorical feature, missing values and queries of several words."""
    draw = np.random.default_rng(3)
    rows = QUERIES * DOCUMENTS
    frame = pandas.DataFrame(
        {
            "query": np.repeat([f"red shoes {number}" for number in range(QUERIES)], DOCUMENTS),
            "document": [f"sku {row}" for row in range(rows)],
            "bm25": draw.normal(size=rows),
            "age": draw.normal(size=rows),
            "brand": pandas.Categorical(draw.choice(["acme", "neo"], rows)),
        }
    )
    frame.loc[::7, "age"] = np.nan
    return frame.assign(label=np.clip((frame["bm25"] + 1).round(), 0, 3).astype(int))


@pytest.fixture(scope="module")
def judged(client: Client, frame: pandas.DataFrame) -> Dataset:
    """A dataset of the frame."""
    return client.upload_dataset(frame, "forms").wait(timeout_seconds=LIMIT_SECONDS)


@pytest.fixture(scope="module")
def model(client: Client, judged: Dataset) -> Model:
    """A model with the name of the dataset."""
    job = client.train("forms", "forms", "lambdarank", hyperparameters=TREES)
    return job.wait(timeout_seconds=LIMIT_SECONDS).model()


def test_a_frame_is_uploaded_once(
    client: Client, frame: pandas.DataFrame, judged: Dataset, model: Model
) -> None:
    """The same content with the same options is the existing dataset; a name selects the newest dataset."""
    assert model.dataset_id == judged.id
    assert judged.features().items[-1].name == "brand"
    job = client.train("forms-frame", frame, "mse", test=frame.head(40), hyperparameters=TREES)
    job.wait(timeout_seconds=LIMIT_SECONDS)
    assert job.spec["dataset_id"] == judged.id
    assert client.dataset(job.spec["test_dataset_id"]).name == "forms-frame test"
    numbers = frame.drop(columns="brand")
    datasets = [
        client.train("forms-numbers", numbers, "mse", hyperparameters=TREES).spec["dataset_id"]
        for _ in range(2)
    ]
    assert datasets[0] == datasets[1] != judged.id
    with pytest.raises(NothingFound, match="did you mean 'forms'"):
        client.train("forms", "formss")


def test_systems_of_any_kind_are_compared(
    client: Client, frame: pandas.DataFrame, judged: Dataset, model: Model
) -> None:
    """Systems may be models, rankers, arrays, frames and dictionaries; equal scores have equal values."""
    ranker = lgb.LGBMRanker(n_estimators=5, min_child_samples=2, verbosity=-1)
    sizes = frame.groupby("query", sort=False).size()
    ranker.fit(frame[FEATURES], frame["label"], group=sizes)
    scores = frame["bm25"].to_numpy()
    table = frame[["query", "document"]].assign(score=scores)
    scattered = table[["query", "score"]].sort_values("query", kind="stable")
    mapping = {
        query: dict(zip(rows["document"], rows["score"], strict=True))
        for query, rows in table.groupby("query")
    }
    systems = {
        "ours": model,
        "Her ranker": ranker,
        "array": scores,
        "frame": polars.from_pandas(table),
        "without documents": scattered,
        "mapping": mapping,
    }
    comparison = client.compare("forms", systems, metrics=["ndcg@5"], reference=2)
    result = comparison.wait(timeout_seconds=LIMIT_SECONDS).comparison()
    names = ["forms:1", "her-ranker:1", "array", "frame", "without documents", "mapping"]
    assert [system.name for system in result.systems] == names
    means = [system.metrics["ndcg@5"].mean for system in result.systems]
    assert means[3:] == [means[2]] * 3
    with pytest.raises(InvalidArgument, match=r"of shape \(3,\), but the dataset has 160 documents"):
        client.upload_run(np.zeros(3), judged)


def test_an_array_is_refused_if_rows_were_reordered(client: Client, frame: pandas.DataFrame) -> None:
    """The scores would have another order than the rows of the dataset, without an error."""
    shuffled = frame.sample(frac=1, random_state=1)
    with pytest.warns(DataWarning, match="are not contiguous"):
        dataset = client.upload_dataset(shuffled).wait(timeout_seconds=LIMIT_SECONDS)
    with pytest.raises(DataUnusable, match="gathered by query"):
        client.upload_run(shuffled["bm25"].to_numpy(), dataset)
    scores = shuffled[["query", "bm25"]].rename(columns={"bm25": "score"})
    with pytest.warns(DataWarning, match=r"not by the index of pandas.*reset_index"):
        job = client.upload_run(scores, dataset)
    stored = job.wait(timeout_seconds=LIMIT_SECONDS).ranking().to_pandas()
    expected = frame.set_index("document")["bm25"]
    np.testing.assert_allclose(stored["score"], expected[stored["document_id"].str.replace("%20", " ")])


def test_scattered_rows_are_ranked_as_sorted_ones(
    client: Client, frame: pandas.DataFrame, model: Model
) -> None:
    """Scores have the order of the rows, and equal the sum of their contributions."""
    scored = client.score(model, frame[["query", *FEATURES]])
    shuffled = frame.sample(frac=1, random_state=2)
    with pytest.warns(DataWarning, match=r"\['label'\]|column 'label'") as warned:
        ranked = client.rank(model, shuffled, order="rows", explain=True)
    assert len(warned) == 1
    assert ranked.index.equals(shuffled.index)
    assert ranked["document_id"].tolist() == shuffled["document"].tolist()
    np.testing.assert_allclose(ranked["score"], scored[shuffled.index])
    added = ranked[[f"contribution.{name}" for name in FEATURES]].sum(axis=1)
    np.testing.assert_allclose(ranked["base"] + added, ranked["score"], rtol=1e-6)
    assert (ranked.groupby("query_id")["rank"].max() == DOCUMENTS).all()


def test_a_model_predicts_lazy_frames_and_dictionaries(
    client: Client, frame: pandas.DataFrame, model: Model
) -> None:
    """The scores equal those of the frame."""
    candidates = frame[FEATURES].astype({"brand": str})
    expected = client.score(model, candidates)
    np.testing.assert_array_equal(model.predict(candidates), expected)
    np.testing.assert_array_equal(model.predict(polars.from_pandas(candidates).lazy()), expected)
    lists = {name: column.where(column.notna(), None).tolist() for name, column in candidates.items()}
    np.testing.assert_array_equal(client.score(model, lists), expected)
    with pytest.raises(DataUnusable, match="needs lists of equal length"):
        client.score(model, {"bm25": [1.0, 2.0], "age": [1.0]})


def test_a_long_frame_takes_several_requests(client: Client, frame: pandas.DataFrame, model: Model) -> None:
    """A frame with more rows than one request may have is ranked in parts, in the order of its rows."""
    parts = [frame.assign(query=frame["query"] + f" {number}") for number in range(70)]
    long = pandas.concat(parts, ignore_index=True)[["query", *FEATURES]]
    scored = client.score(model, long)
    assert len(scored) == 11_200
    np.testing.assert_allclose(scored[-160:], client.score(model, frame[["query", *FEATURES]]))


def test_a_refused_document_is_named(client: Client, model: Model) -> None:
    """The message suggests the feature that was probably meant."""
    with pytest.raises(RankeryApiError, match=r"feature 'bm_25': not a feature .*did you mean 'bm25'"):
        client.rank(model, {"bm_25": 1.0})
    assert client.rank(model, [{"bm25": 1.0}, {"bm25": 2.0}]).queries[0].ranking[1].rank == 2


def test_a_grid_names_its_best(client: Client, judged: Dataset) -> None:
    """The best training is the one with the highest validation metric; the table has a row for each."""
    grid = client.grid(
        "forms-grid", judged, {"num_leaves": [4, 8], "loss": ["mse"]}, validation=0.3, hyperparameters=TREES
    ).wait(timeout_seconds=LIMIT_SECONDS)
    table = grid.to_pandas()
    assert table["num_leaves"].tolist() == [4, 8]
    best = table.loc[table["validation ndcg@5"].idxmax(), "job_id"]
    assert grid.best.id == best
    assert best in grid._repr_html_()
    with pytest.raises(InvalidArgument, match="num_leaves: a grid takes a list"):
        client.grid("forms-grid", judged, {"num_leaves": 4})  # type: ignore[dict-item]


@pytest.mark.slow
def test_arrays_and_boosters_have_names_of_features(
    client: Client, frame: pandas.DataFrame, judged: Dataset
) -> None:
    """`(X, y, group)` is a dataset; feature names are given for a model that was trained on an array."""
    matrix = frame[["bm25", "age"]].to_numpy()
    sizes = [DOCUMENTS] * QUERIES
    dataset = client.upload_dataset((matrix, frame["label"], sizes), "arrays", feature_names=["bm25", "age"])
    assert len(dataset.wait(timeout_seconds=LIMIT_SECONDS).queries().all()) == QUERIES
    booster = lgb.train(
        {"objective": "lambdarank", "verbosity": -1}, lgb.Dataset(matrix, frame["label"], group=sizes), 3
    )
    job = client.import_model(booster, "arrays", feature_names=["bm25", "age"]).wait(
        timeout_seconds=LIMIT_SECONDS
    )
    assert job.model().feature_names == ["bm25", "age"]
    np.testing.assert_allclose(client.score("arrays", matrix), booster.predict(matrix), rtol=1e-6)
    with pytest.raises(InvalidArgument, match="must be 2 names"):
        client.import_model(booster, "arrays", feature_names=["bm25"])


def test_the_upload_of_another_client_becomes_a_dataset(client: Client) -> None:
    """An upload of any tus client can become a dataset."""
    content = b"2 qid:1 1:0.5 2:3.0\n0 qid:1 1:0.1 2:1.0\n1 qid:2 1:0.2 2:1.5\n"
    headers = {
        "Tus-Resumable": "1.0.0",
        "Upload-Length": str(len(content)),
        "Content-Type": "application/offset+octet-stream",
    }
    for send in (client.import_dataset, client.upload_dataset):
        upload = client.request("POST", "/v1/uploads", content=content, headers=headers).json()
        dataset = send(f"upload:{upload['id']}", "sent by tus").wait(timeout_seconds=LIMIT_SECONDS)
        assert (dataset.statistics or {})["documents"] == 3
