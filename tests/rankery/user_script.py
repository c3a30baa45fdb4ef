"""A user's script, type-checked against the client; it is not run."""

import asyncio
from typing import assert_type

import pyarrow as pa

from rankery import AsyncClient, Client
from rankery.client import AsyncJob, Dataset, Evaluation, Hyperparameters, Job, Loss, Model, RankedQueries
from rankery.errors import JobFailed, RankeryApiError


def promote(path: str) -> str:
    """Train, compare with the champion, and promote the better model."""
    loss: Loss = {"name": "ndcg-loss2++", "mu": 10.0, "pair_selection": "random", "truncation_level": 10}
    trees: Hyperparameters = {"num_leaves": 64, "learning_rate": 0.05}
    with Client(retries=6) as client:
        dataset = client.upload_dataset(path, columns={"label": "grade"}).wait(progress=False)
        assert_type(dataset, Dataset)
        job = client.train("web", dataset, loss, validation=0.2, hyperparameters=trees, early_stopping=30)
        try:
            model = job.wait(timeout_seconds=3600).model()
        except (JobFailed, RankeryApiError) as error:
            return str(error)
        assert_type(model, Model)
        comparison = client.compare(dataset, ["web@champion", model]).wait().comparison()
        if comparison.pairs[0].verdict == "better":
            moved = client.set_alias("web", "champion", model.version)
            assert_type(moved, Model | Job)
        for running in client.jobs(kind="train", status="running"):
            assert_type(running, Job)
        ranked = client.rank("web", [{"id": "q", "documents": [{"id": "d", "features": {"bm25": 1.0}}]}], 5)
        assert_type(ranked, RankedQueries)
        assert_type(client.rank("web", pa.table({"bm25": [1.0]})), pa.Table)
        client.train("web", dataset, "no such loss")  # type: ignore[arg-type]
        client.evaluate(model, dataset, priority="low", limits={"seconds": 60}, label_map={"4": 3})
        client.evaluate(model, dataset, priorities="low")  # type: ignore[call-arg]
        return comparison.sentence


async def follow() -> float | None:
    """Use the asynchronous client."""
    async with AsyncClient("http://127.0.0.1:8000") as client:
        newest: AsyncJob | None = None
        async for job in client.jobs(kind="train"):
            newest = newest or job
            await job.refresh()
        assert newest is not None
        evaluation = await newest.evaluation()
        rows = await evaluation.queries("ndcg@10", most=0.2, segment="market: de").first(3)
        assert_type(rows[0].values["ndcg@10"], float | None)
        return evaluation.metrics["ndcg@10"].mean


def show(evaluation: Evaluation) -> None:
    """Use frames and figures."""
    frame: pa.Table = evaluation.to_arrow()
    assert frame.num_rows
    evaluation.plot().show()


if __name__ == "__main__":
    asyncio.run(follow())
