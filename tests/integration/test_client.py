"""The Python client with a running service: data frames, waiting for jobs, exports and a notebook."""

from pathlib import Path

import httpx
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from nbclient import NotebookClient

from rankery.client import Client, Dataset, Job
from rankery.client.arguments import CandidateColumns
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import JobFailed, NothingMade
from tests.integration.requests import notebook_of, train_job
from tests.integration.waiting import LIMIT_SECONDS

pytestmark = pytest.mark.embedded

QUERIES, DOCUMENTS, FEATURES = 12, 6, 3
NOTEBOOK = [
    "from rankery import Client\nclient = Client()\njob = client.job('{job_id}')\njob.wait(progress=True)",
    "job",
    "client.jobs(kind='train')",
    "figure = job.history().plot()\nfigure.to_dict()['data'][1]['name']",
    "client.dataset('{dataset_id}')",
]


@pytest.fixture(scope="module")
def frame() -> pandas.DataFrame:
    """Judged documents with unusual column names and a separate index."""
    draw = np.random.default_rng(5)
    features = draw.normal(size=(QUERIES * DOCUMENTS, FEATURES)).round(3)
    features[::7, 1] = np.nan
    frame = pandas.DataFrame(features, columns=["bm25", "age", "price"])
    frame.insert(0, "session", np.repeat([f"s{i}" for i in range(QUERIES)], DOCUMENTS))
    frame.insert(1, "product", [f"p{i}" for i in range(len(frame))])
    frame["clicked"] = (features[:, 0] > 0).astype(int)
    return frame.set_index(np.arange(len(frame)) * 2)


@pytest.fixture(scope="module")
def judged(client: Client, frame: pandas.DataFrame) -> Dataset:
    """A dataset of the frame."""
    dataset = client.upload_dataset(
        frame, "a <b>frame</b>", columns={"label": "clicked", "query": "session", "document": "product"}
    )
    return dataset.wait(timeout_seconds=LIMIT_SECONDS)


def test_frames_and_arrays_have_the_same_documents(
    client: Client, frame: pandas.DataFrame, judged: Dataset
) -> None:
    """Uploads from pandas, polars with categories, Arrow and numpy have equal labels and features."""
    renamed = frame.rename(columns={"clicked": "label", "session": "query_id", "product": "document_id"})
    categories = polars.from_pandas(renamed).with_columns(polars.col("query_id").cast(polars.Categorical))
    table = pa.Table.from_pandas(renamed, preserve_index=False)
    names = ["bm25", "age", "price"]
    sent = [
        client.upload_dataset(categories),
        client.upload_dataset(table),
        client.upload_arrays(
            frame[names].to_numpy(),
            frame["clicked"].to_numpy(),
            query_ids=frame["session"].to_numpy(),
            document_ids=frame["product"].to_numpy(),
            feature_names=names,
        ),
    ]
    expected = frame[frame["session"] == "s3"]
    for dataset in (judged, *(upload.wait(timeout_seconds=LIMIT_SECONDS) for upload in sent)):
        shown = dataset.query("s3").to_pandas()
        assert shown["document_id"].tolist() == expected["product"].tolist()
        assert shown["label"].tolist() == expected["clicked"].tolist()
        np.testing.assert_allclose(shown[names], expected[names].astype(np.float32))
    assert [query.query_id for query in judged.queries()] == [f"s{i}" for i in range(QUERIES)]
    by_size = client.upload_arrays(
        frame[names].to_numpy(), frame["clicked"].to_numpy(), query_sizes=[DOCUMENTS] * QUERIES
    ).wait(timeout_seconds=LIMIT_SECONDS)
    assert len(list(by_size.queries())) == QUERIES


def test_a_frame_is_ranked_as_dictionaries_are(
    client: Client, frame: pandas.DataFrame, judged: Dataset, tmp_path: Path
) -> None:
    """A ranking has the kind of the frame sent; stored rankings and evaluations convert to frames."""
    job = client.train(
        "frames", judged, "lambdarank", hyperparameters={"num_iterations": 5, "min_data_in_leaf": 2}
    )
    model = job.wait(timeout_seconds=LIMIT_SECONDS).model()
    names = model.feature_names
    queries = [
        {
            "id": query,
            "documents": [
                {"id": row["product"], "features": {n: row[n] for n in names if row[n] == row[n]}}
                for _, row in rows.iterrows()
            ],
        }
        for query, rows in frame.groupby("session", sort=False)
    ]
    expected = client.rank(model, queries, top_k=2).to_pandas()
    columns: CandidateColumns = {"query": "session", "document": "product", "ignore": ["clicked"]}
    as_pandas = client.rank(model, frame, 2, columns=columns)
    as_polars = client.rank("frames", polars.from_pandas(frame), 2, columns=columns)
    as_arrow = client.rank("frames:1", pa.Table.from_pandas(frame, preserve_index=False), 2, columns=columns)
    assert isinstance(as_pandas, pandas.DataFrame)
    assert isinstance(as_polars, polars.DataFrame)
    assert isinstance(as_arrow, pa.Table)
    as_numpy = client.rank_arrays(model, frame[names].to_numpy(), 2, query_sizes=[DOCUMENTS] * QUERIES)
    for ranked in (as_pandas, as_polars.to_pandas(), as_arrow.to_pandas()):
        assert ranked["document_id"].tolist() == expected["document_id"].tolist()
        np.testing.assert_allclose(ranked["score"], expected["score"], rtol=1e-6)
    assert frame["product"].to_numpy()[as_numpy["row"]].tolist() == expected["document_id"].tolist()
    ranking = client.rank_dataset(model, judged).wait(timeout_seconds=LIMIT_SECONDS).ranking()
    stored = ranking.to_polars().filter(polars.col("rank") <= 2)
    assert stored["document_id"].to_list() == expected["document_id"].tolist()
    evaluation = client.evaluate(ranking, judged, metrics=["mrr"]).wait().evaluation()
    assert evaluation.to_numpy()["mrr"].mean() == pytest.approx(evaluation.metrics["mrr"].mean)
    path = model.export("lightgbm", tmp_path / "model.txt")
    url = f"{client.base_url}/v1/models/{model.id}/export?format=lightgbm"
    assert path.read_bytes() == httpx.get(url).content
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.txt"]
    assert model.parity("onnx", dataset=judged).exact


def test_wait_all_waits_for_all_jobs(client: Client, datasets: dict[str, str]) -> None:
    """A job that does not succeed does not hide the others; it has a reason and no results."""
    short, long = (
        client.submit(train_job(datasets, model_name="grid", num_iterations=iterations))
        for iterations in (2, 20_000)
    )
    long.cancel()
    jobs = client.wait_all([short, long], timeout_seconds=LIMIT_SECONDS)
    assert [job.status for job in jobs] == ["succeeded", "cancelled"]
    with pytest.raises(NothingMade, match="is cancelled"):
        long.model()
    with pytest.raises(JobFailed, match="cancelled"):
        long.wait()


def test_a_notebook_shows_the_objects_of_the_client(
    stack: EmbeddedStack,
    client: Client,
    trained: Job,
    judged: Dataset,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A notebook kernel shows the progress bar, cards and figures; names are escaped."""
    monkeypatch.setenv("RANKERY_URL", stack.url)
    notebook = notebook_of(cell.format(job_id=trained.id, dataset_id=judged.id) for cell in NOTEBOOK)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [
        "".join(str(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
        for cell in notebook.cells
    ]
    waited, job, jobs, _, dataset = outputs
    assert "succeeded, 20 of 20" in str(notebook["metadata"]["widgets"])
    assert "succeeded" in waited
    assert f"train job {trained.id}" in job
    assert "lambdarank" in job
    assert client.jobs(kind="train").first()[0].id in jobs, "the newest trainings"
    assert notebook.cells[3]["outputs"][0]["data"]["text/plain"] == "'validation'"
    assert "a &lt;b&gt;frame&lt;/b&gt;" in dataset
    assert "<b>" not in dataset
