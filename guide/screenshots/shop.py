"""Fill a service with example data: a shop's judged searches, two models and a comparison."""

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from rankery import Client
from rankery.client import Dataset, Job

_TRAINING_ATTRIBUTES = (
    "red", "blue", "green", "waterproof", "light", "kids",
    "vintage", "leather", "large", "cheap", "wooden", "small",
)  # fmt: skip
_TEST_ATTRIBUTES = ("black", "folding", "warm", "electric", "white", "used", "round", "heavy")
_THINGS = ("shoes", "coat", "tent", "backpack", "lamp", "bicycle", "desk", "jacket", "watch", "kettle")
_MAKERS = ("Acme", "Borealis", "Cobalt", "Dune", "Elm")
_SHOPS = ("at", "ch", "de")
_COLUMNS = ("query_id", "query_text", "document_id", "document_title", "label", "shop")
_FEATURES = (
    "bm25_title",
    "bm25_text",
    "rating",
    "clicks_30d",
    "price",
    "age_days",
    "in_stock",
    "brand_match",
)
# Shift of each feature per label, in standard deviations of its noise.
_SIGNALS = (0.5, 0.3, 0.2, 0.4, -0.1, -0.15, 0.05, 0.25)
_DOCUMENTS = 20
_EMPTY_RATINGS_SHARE = 0.1


def judged_searches(attributes: Sequence[str], seed: int) -> Iterator[str]:
    """Yield the lines of a CSV of product searches: the grade and features of each document."""
    draw = random.Random(seed)  # noqa: S311 - made-up data
    yield ",".join((*_COLUMNS, *_FEATURES)) + "\n"
    for number, (attribute, thing) in enumerate(itertools.product(attributes, _THINGS), 1):
        shop = draw.choice(_SHOPS)
        for document in range(_DOCUMENTS):
            label = draw.choice((0, 0, 0, 0, 1, 1, 2, 3))
            values = [f"{5 + draw.gauss(signal * label, 1):.2f}" for signal in _SIGNALS]
            if draw.random() < _EMPTY_RATINGS_SHARE:
                values[_FEATURES.index("rating")] = ""
            title = f"{draw.choice(_MAKERS)} {attribute if label else draw.choice(attributes)} {thing}"
            identity = (f"q{number}", f"{attribute} {thing}", f"sku-{document}", title, str(label), shop)
            yield ",".join((*identity, *values)) + "\n"


def fill(client: Client, folder: Path) -> dict[str, str]:
    """Upload, train, inspect and compare; return the values of the placeholders in page paths."""
    train = _upload(client, folder / "shop train.csv", judged_searches(_TRAINING_ATTRIBUTES, 1))
    test = _upload(client, folder / "shop test.csv", judged_searches(_TEST_ATTRIBUTES, 2))
    grid = [
        client.train(
            "shop",
            train,
            loss,
            validation=0.2,
            test=test,
            metrics=["ndcg@5", "ndcg@10"],
            hyperparameters={"num_iterations": 60, "num_leaves": leaves, "learning_rate": 0.05},
        )
        for loss in ("lambdarank", "ndcg-loss2++")
        for leaves in (7, 31)
    ]
    best: Job = [job.wait(progress=False) for job in grid][2]
    weak = client.train(
        "shop", train, "mse", test=test, hyperparameters={"num_iterations": 2, "num_leaves": 3}
    ).wait(progress=False)
    client.set_alias("shop", "champion", best.model().version)
    client.inspect(best.model(), test).wait(progress=False)
    compared = client.compare(test, [weak.model(), best.model()], metrics=["ndcg@10", "mrr"]).wait(
        progress=False
    )
    return {
        "dataset": test.id,
        "query": "q1",
        "job": best.id,
        "grid": "&".join(f"job={job.id}" for job in grid),
        "evaluation": best.evaluation().id,
        "comparison": compared.comparison().id,
        "model": f"shop:{best.model().version}",
    }


def _upload(client: Client, file: Path, lines: Iterator[str]) -> Dataset:
    file.write_text("".join(lines))
    return client.upload_dataset(file, name=file.stem, progress=False).wait(progress=False)
