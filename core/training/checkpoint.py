"""Checkpoints of trainings of trees; a resumed training yields the same model, byte for byte."""

import io
import json
import re
import tokenize
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import lightgbm
import numpy as np
from lightgbm import basic

from core.data import RankingDataset
from core.errors import InvalidInput, ModelError
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.training.history import History
from core.training.models import IterationReport
from core.types import Float64Array, FloatArray

_FORMAT = 1
_SCORES, _BIAS = "scores/", "bias/"
# Raised by `numpy.load` and by parsers of its content if the bytes of an archive are damaged.
ARCHIVE_ERRORS = (
    InvalidInput,
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    OSError,
    RuntimeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
)


class CheckpointError(Exception):
    """A checkpoint is damaged, or of another version."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training after an iteration.

    Attributes:
        model_text: The trees so far, in LightGBM's text form.
        scores: Current scores of the documents by dataset, "train" and "validation"; float64.
        best_iteration: Best iteration so far, 0 before there is one.
        best_value: Value of the selection metric at the best iteration, negated where lower is better.
        history: One report for each iteration; reports read from a file have no times.
        bias: Position bias that is learnt with the model, by name; empty without one.
    """

    model_text: str
    scores: dict[str, Float64Array]
    best_iteration: int
    best_value: float
    history: list[IterationReport]
    bias: dict[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def after(
        cls,
        history: History,
        model_text: str,
        scores: dict[str, Float64Array],
        bias: dict[str, FloatArray] | None = None,
    ) -> "Checkpoint":
        """Return the state after the last iteration.

        Args:
            model_text: All trees so far.
            scores: Current scores by dataset.
            bias: Current position bias by name, if any.
        """
        return cls(
            model_text, scores, history.best_iteration, history.best_value, list(history.reports), bias or {}
        )

    @classmethod
    def of_model(cls, model_text: str, datasets: Mapping[str, RankingDataset], threads: int) -> "Checkpoint":
        """Return the state before the first iteration of a training with an initial model.

        Args:
            model_text: The model, whose trees come first.
            datasets: Datasets by name, "train" and "validation", with the model's features.

        Raises:
            ModelError: The model averages its trees (`boosting=rf`), so that none can be added.
        """
        text = ModelText.read(model_text)
        if text.averages:
            raise ModelError("the model averages its trees (boosting=rf), so that no tree can be added")
        forest = Forest(text)
        scores = {name: forest.score(dataset.features, threads) for name, dataset in datasets.items()}
        return cls(model_text, scores, best_iteration=0, best_value=-np.inf, history=[])

    @classmethod
    def of_scores(cls, scores: dict[str, Float64Array]) -> "Checkpoint":
        """Return the state before the first tree of a training with initial scores.

        Args:
            scores: Scores of the documents by dataset, "train" and "validation".
        """
        return cls("", scores, best_iteration=0, best_value=-np.inf, history=[])

    @property
    def base_trees(self) -> int:
        """Return the number of trees of the initial model, 0 without one."""
        return len(re.findall(r"^Tree=\d+$", self.model_text, re.MULTILINE)) - self.iteration

    @property
    def iteration(self) -> int:
        """Return the number of iterations done."""
        return len(self.history)

    def to_bytes(self) -> bytes:
        """Return the checkpoint as the content of a file: a NumPy archive without pickled objects."""
        state = {
            "format": _FORMAT,
            "lightgbm": lightgbm.__version__,
            "best_iteration": self.best_iteration,
            "best_value": self.best_value if self.best_iteration else None,
            "history": [without_times(report) for report in self.history],
        }
        file = io.BytesIO()
        texts = {"state": json.dumps(state), "model_text": self.model_text}
        np.savez(
            file,
            allow_pickle=False,
            **{name: np.frombuffer(text.encode(), np.uint8) for name, text in texts.items()},
            **{_SCORES + name: scores for name, scores in self.scores.items()},
            **{_BIAS + name: values for name, values in self.bias.items()},
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Checkpoint":
        """Read a checkpoint from the content that `to_bytes` returned.

        Raises:
            CheckpointError: The content cannot be parsed, or was written by another version of Rankery or
                LightGBM.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                state: dict[str, Any] = json.loads(archive["state"].tobytes())
                model_text = archive["model_text"].tobytes().decode()
                scores = {
                    name.removeprefix(_SCORES): archive[name].astype(np.float64, copy=False)
                    for name in archive.files
                    if name.startswith(_SCORES)
                }
                bias = {
                    name.removeprefix(_BIAS): archive[name]
                    for name in archive.files
                    if name.startswith(_BIAS)
                }
            if (state["format"], state["lightgbm"]) != (_FORMAT, lightgbm.__version__):
                raise CheckpointError("the checkpoint was written by another version")
            best_iteration = state["best_iteration"]
            best_value = state["best_value"] if best_iteration else -np.inf
            history = [IterationReport(**report) for report in state["history"]]
        except ARCHIVE_ERRORS as error:
            raise CheckpointError("the checkpoint is damaged") from error
        return cls(model_text, scores, best_iteration, best_value, history, bias)


def without_times(report: IterationReport) -> dict[str, Any]:
    """Return the fields of a report without times, which differ between runs."""
    values = asdict(report)
    del values["milliseconds"]
    return values


def prepend_trees(booster: lightgbm.Booster, model_text: str) -> None:
    """Insert the trees of a model before the trees of a new booster, without changing its scores.

    Calls `LGBM_BoosterMerge` of LightGBM's C API: the Python package calls it for `init_model` only, where it
    also scores the data again.
    """
    if not model_text:
        return
    earlier = lightgbm.Booster(model_str=model_text)
    library: Any = basic
    library._safe_call(library._LIB.LGBM_BoosterMerge(booster._handle, earlier._handle))
