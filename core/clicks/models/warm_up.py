"""Compile every kernel of click models, or load it from the disk cache."""

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.models.evaluation import evaluate_click_model
from core.clicks.models.fitting import fit_click_model
from core.clicks.models.specification import ClickModelSpec
from core.data.texts import Texts

_LOG = ClickLog(
    list_boundaries=np.array([0, 2, 4]),
    list_queries=np.zeros(2, np.int32),
    pairs=np.array([0, 1, 1, 0], np.int32),
    ranks=np.array([1, 2, 1, 2], np.int16),
    clicks=np.array([True, False, False, True]),
    pair_queries=np.zeros(2, np.int32),
    pair_documents=np.arange(2, dtype=np.int32),
    query_ids=Texts.of(["query"]),
    document_ids=Texts.of(["a", "b"]),
)


def estimation() -> None:
    """Estimate one model of each family on two lists, and evaluate it."""
    for name in ("pbm", "dbn"):
        evaluate_click_model(
            fit_click_model(_LOG, ClickModelSpec(model=name, iterations=1, resamples=0)), _LOG
        )
