"""Check whether models and rankings can be measured on datasets, and propose a test dataset."""

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.datasets.schemas import DatasetFit, PartName
from core.data.feature_alignment import AbsentFeatures
from core.errors import ArtifactDamaged, ModelError, NotFound
from core.names import first_names
from core.scorers import read_model
from core.store import Dataset, Model, Ranking, Store, Transaction
from core.store.artifacts.keys import features_key, model_key
from core.types import Precision

_CACHED_NAMES = 256  # lists of feature names
_CACHED_MODELS = 256
_PARTS: tuple[PartName, ...] = ("test", "validation", "train")
_RANKING_PREFIX = "rnk_"


@dataclass(frozen=True)
class _MeasuredModel:
    """A model to check against a dataset.

    Attributes:
        name: Reference of the model.
        used: The features that decide its scores.
        datasets: The datasets of its training, by part.
        tested_on: Its test dataset, else the dataset of its last evaluation on other data, else None.
    """

    name: str
    used: tuple[str, ...]
    datasets: Mapping[str, str]
    tested_on: str | None

    @classmethod
    def of(cls, store: Store, tx: Transaction, model: Model) -> "_MeasuredModel":
        lineage = (model.lineage or {}).get("datasets") or {}
        datasets = {part: dataset["id"] for part, dataset in lineage.items()}
        evaluated = [evaluation.dataset_id for evaluation in tx.evaluations.of_model(model.id)]
        elsewhere = (dataset_id for dataset_id in reversed(evaluated) if dataset_id != model.dataset_id)
        tested_on = datasets.get("test") or next(elsewhere, None)
        return cls(model.reference, _used_features(store, model), datasets, tested_on)


class DatasetFits:
    """Models and rankings to check against datasets.

    Args:
        references: References of models and ids of rankings, at least one.

    Raises:
        NotFound: A model or ranking does not exist.
    """

    def __init__(self, store: Store, tx: Transaction, references: Sequence[str]) -> None:
        self._store = store
        self._rankings: list[Ranking] = []
        self._models: list[_MeasuredModel] = []
        for reference in dict.fromkeys(references):
            if reference.startswith(_RANKING_PREFIX):
                self._rankings.append(tx.rankings.get(reference))
            else:
                self._models.append(_MeasuredModel.of(store, tx, tx.models.resolve(reference)))

    def default_id(self, tx: Transaction) -> str | None:
        """Return the most common test dataset on which all models and rankings can be measured, or None."""
        tested = Counter(
            dataset_id
            for dataset_id in (
                *(model.tested_on for model in self._models),
                *(ranking.dataset_id for ranking in self._rankings),
            )
            if dataset_id is not None
        )
        for dataset_id, _ in tested.most_common():
            try:
                dataset = tx.datasets.get(dataset_id)
            except NotFound:
                continue  # the dataset was deleted
            if self.of(dataset, dataset.feature_names).fits:
                return dataset_id
        return None

    def of(self, dataset: Dataset, feature_names: list[str] | None) -> DatasetFit:
        """Check whether all models and rankings can be measured on a dataset.

        Args:
            feature_names: Names of its features, None if the dataset's row does not store them.
        """
        absent: tuple[str, ...] = ()
        reason = _unmeasurable_reason(dataset)
        if reason is None and self._models:
            reason, absent = self._absent(dataset, feature_names)
        return DatasetFit(
            fits=reason is None, reason=reason, absent_features=list(absent), part=self._part(dataset.id)
        )

    def _part(self, dataset_id: str) -> PartName | None:
        for part in _PARTS:
            if any(model.datasets.get(part) == dataset_id for model in self._models):
                return part
        return "test" if any(ranking.dataset_id == dataset_id for ranking in self._rankings) else None

    def _absent(
        self, dataset: Dataset, feature_names: list[str] | None
    ) -> tuple[str | None, tuple[str, ...]]:
        """Return the reason why a model cannot be used, if any, and the features that the dataset lacks."""
        if (dataset.statistics or {}).get("features") == 0:
            return "has judgments without features", ()
        names = feature_names if feature_names is not None else _names_of(self._store, dataset.data_key)
        if names is None:
            return None, ()
        most_absent: tuple[str, ...] = ()
        for model in self._models:
            absent = AbsentFeatures.among(names, model.used)
            if absent.are_majority:
                return _missing_features_reason(model, absent, len(names)), absent.names
            most_absent = max(most_absent, absent.names, key=len)
        return None, most_absent


def _missing_features_reason(model: _MeasuredModel, absent: AbsentFeatures, n_features: int) -> str:
    size = f"; it has {n_features:,}" if n_features < absent.used else ""
    return (
        f"lacks {len(absent.names):,} of the {absent.used:,} features that {model.name} uses"
        f" ({first_names(absent.names)}){size}"
    )


def _unmeasurable_reason(dataset: Dataset) -> str | None:
    if dataset.status != "ready":
        return "is not ready"
    statistics = dataset.statistics or {}
    missing = (statistics.get("label_range") or {}).get("missing", 0)
    return "has no labels" if missing and missing == statistics.get("documents") else None


def _used_features(store: Store, model: Model) -> tuple[str, ...]:
    """Return the features that a model uses, or all its features where the model cannot be read."""
    try:
        columns = _used_columns(store, model.id, model.sha256, model.precision)
    except (ArtifactDamaged, ModelError, NotFound):
        return tuple(model.feature_names)
    return tuple(model.feature_names[column] for column in columns)


@functools.lru_cache(_CACHED_MODELS)
def _used_columns(store: Store, model_id: str, sha256: str, precision: Precision) -> tuple[int, ...]:
    scorer = read_model(store.verified.read_bytes(model_key(model_id), sha256), precision)
    return scorer.used_features


@functools.lru_cache(_CACHED_NAMES)
def _names_of(store: Store, data_key: str | None) -> list[str] | None:
    """Read feature names from the stored profiles, for datasets recorded without feature names."""
    if data_key is None:
        return None
    try:
        with store.verified.open(features_key(data_key)) as file:
            return [profile["name"] for profile in json.load(file)]
    except (ArtifactDamaged, NotFound):
        return None
