"""The library gives the same models as the service."""

from pathlib import Path

import lightgbm
import numpy as np
import pandas
import pytest

import rankery.lightgbm
from core.data.reading import JudgedFile, read_file
from rankery import RankeryRanker
from rankery.client import Client
from tests.integration.waiting import LIMIT_SECONDS

pytestmark = pytest.mark.embedded


def test_lgb_train_gives_the_bytes_of_the_service(client: Client, shared_data: Path, tmp_path: Path) -> None:
    """Models of 100 rounds of NDCG-Loss2++ have equal bytes, also from `RankeryRanker`."""
    folder = shared_data / "lightgbm-rank"
    sizes = folder / "rank.train.query"
    sent = client.upload_dataset(folder / "rank.train", query_sizes={"file": sizes})
    job = client.train("example", sent.wait(timeout_seconds=LIMIT_SECONDS), "ndcg-loss2++")
    model = job.wait(timeout_seconds=LIMIT_SECONDS).model()
    served = client.export(model, "lightgbm", tmp_path / "model.txt").read_text()
    judged = read_file(JudgedFile(folder / "rank.train", "rank.train", sizes)).dataset
    group = np.diff(judged.query_boundaries)
    data = lightgbm.Dataset(
        judged.matrix, judged.labels, group=group, feature_name=list(judged.feature_names)
    )
    objective = rankery.lightgbm.objective("ndcg-loss2++")
    booster = lightgbm.train({**rankery.lightgbm.parameters(), "objective": objective}, data)
    assert booster.model_to_string() == served
    named = pandas.DataFrame(judged.matrix, columns=list(judged.feature_names))
    assert RankeryRanker("ndcg-loss2++").fit(named, judged.labels, group=group).model_text_ == served
