"""Align the features of a dataset with the features of a model."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from core.data.categories import FLOAT32_EXACT_LIMIT, MAX_CATEGORIES, Categories
from core.data.dataset import RankingDataset
from core.data.feature_choice import unknown_features
from core.data.features import copy_features, select_columns
from core.errors import DatasetError, FeaturesAbsent, InvalidInput
from core.names import first_names
from core.types import Float32Array

_NUMBERED = re.compile(r"f(0|[1-9][0-9]*)")
_EXAMPLES = 5
_NO_CATEGORIES: Mapping[str, Categories] = MappingProxyType({})


@dataclass(frozen=True)
class AbsentFeatures:
    """Features that a model uses and a dataset lacks.

    Attributes:
        used: Number of all features that the model uses.
    """

    names: tuple[str, ...]
    used: int

    @classmethod
    def of(cls, dataset: RankingDataset, used: Sequence[str]) -> "AbsentFeatures":
        """Find the used features that a dataset lacks."""
        return cls.among(dataset.feature_names, used)

    @classmethod
    def among(cls, present: Sequence[str], used: Sequence[str]) -> "AbsentFeatures":
        """Find the used features that are not among the present ones."""
        names = set(present)
        return cls(tuple(name for name in used if name not in names), len(used))

    @property
    def are_majority(self) -> bool:
        """Return whether more than half of the used features are absent, which makes scores unreliable."""
        return 2 * len(self.names) > self.used

    def refuse_majority(self, pointer: str, dataset: str, model_name: str, *, advice: str = "") -> None:
        """Refuse a dataset that lacks more than half of the used features.

        Args:
            dataset: Name of the dataset in messages: "the dataset".
            model_name: Name of the model that uses the features: "web:3".
            advice: How to use the dataset despite absent features, for the message.

        Raises:
            FeaturesAbsent: More than half of the used features are absent.
        """
        if not self.are_majority:
            return
        raise FeaturesAbsent.at(
            pointer,
            f"{dataset} lacks {len(self.names):,} of the {self.used:,} features that {model_name} uses"
            f" ({first_names(self.names)}); check that its columns have the names of the training data"
            f"{advice}",
        )


def align_features(
    dataset: RankingDataset,
    feature_names: tuple[str, ...],
    categories: Mapping[str, Categories] = _NO_CATEGORIES,
) -> RankingDataset:
    """Select exactly these features of a dataset, in this order.

    Features that the dataset lacks are missing values (NaN). They are 0 where all names of the dataset and of
    `feature_names` are numbered (f1, f2, …), because LETOR text omits zeros.

    Args:
        categories: The model's values of the categorical features. The dataset's codes are translated into
            the model's codes by value; unknown values become missing (NaN).

    Raises:
        DatasetError: The dataset has judgments but no features.
    """
    if dataset.feature_names == feature_names and dataset.categories == categories:
        return dataset
    if not dataset.n_features:
        raise DatasetError.at(
            "the dataset has judgments but no features; pass an existing ranking instead of a model"
        )
    column_of = {name: column for column, name in enumerate(dataset.feature_names)}
    numbered = all(map(_NUMBERED.fullmatch, (*feature_names, *dataset.feature_names)))
    columns = np.array([column_of.get(name, -1) for name in feature_names], np.int64)
    selected = select_columns(dataset.features, columns, 0.0 if numbered else np.nan)
    recoded = [name for name in feature_names if categories.get(name) != dataset.categories.get(name)]
    if not recoded:
        return dataset.with_features(selected, feature_names, categories)
    features = copy_features(selected)
    for name in recoded:
        column = column_of.get(name)
        values = np.nan if column is None else model_codes(dataset, column, categories.get(name))
        features[:, feature_names.index(name)] = values
    return dataset.with_features(features, feature_names, categories)


def with_categories(dataset: RankingDataset, names: Sequence[str]) -> RankingDataset:
    """Convert features of whole numbers to categories, whose values are the numbers in ascending order.

    Args:
        names: The features; features that are already categorical are unchanged.

    Raises:
        InvalidInput: At `/categorical_feature/…` for a name that is not a feature. Also for a feature with a
            fraction, a magnitude of 2^24 or more, or too many different values.
    """
    pointers = {name: f"/categorical_feature/{position}" for position, name in enumerate(names)}
    column_of = {name: column for column, name in enumerate(dataset.feature_names)}
    for name, pointer in pointers.items():
        if name not in column_of:
            raise InvalidInput.at(pointer, unknown_features([name], dataset.feature_names)[name])
    new = [name for name in pointers if name not in dataset.categories]
    if not new:
        return dataset
    categories, features = dict(dataset.categories), copy_features(dataset.features)
    for name in new:
        column = column_of[name]
        categories[name] = _number_categories(features[:, column], pointers[name])
        features[:, column] = categories[name].codes_of_numbers(features[:, column])
    return dataset.with_features(features, dataset.feature_names, categories)


@dataclass(frozen=True)
class UnseenValues:
    """Values of a categorical feature that are unknown to a model."""

    feature: str
    documents: int
    examples: tuple[str, ...]


def unseen_values(
    dataset: RankingDataset, feature_names: Collection[str], categories: Mapping[str, Categories]
) -> list[UnseenValues]:
    """Find, for each of a model's features, the values that `align_features` turns into missing values."""
    unseen_by_feature, model_features = [], frozenset(feature_names)
    for column, name in enumerate(dataset.feature_names):
        dataset_categories, model_categories = dataset.categories.get(name), categories.get(name)
        if name not in model_features or (dataset_categories is None and model_categories is None):
            continue
        values = dataset.features[:, column]
        unseen = ~np.isnan(values) & np.isnan(model_codes(dataset, column, model_categories))
        if unseen.any():
            codes = np.unique(values[unseen])[:_EXAMPLES]
            texts = (
                dataset_categories.texts(codes)
                if dataset_categories
                else [np.format_float_positional(code, trim="-") for code in codes]
            )
            examples = tuple(text for text in texts if text is not None)
            unseen_by_feature.append(UnseenValues(name, int(np.count_nonzero(unseen)), examples))
    return unseen_by_feature


def model_codes(dataset: RankingDataset, column: int, model_categories: Categories | None) -> Float32Array:
    """Return a column of a dataset in the codes of a model, NaN where a value is unknown to the model.

    A model without categories gets categories of numbers as numbers.
    """
    values = dataset.features[:, column]
    dataset_categories = dataset.categories.get(dataset.feature_names[column])
    if dataset_categories is None:
        return values if model_categories is None else model_categories.codes_of_numbers(values)
    if model_categories is None:
        return dataset_categories.numbers(values)
    return model_categories.recoded(values, dataset_categories)


def _number_categories(values: Float32Array, pointer: str) -> Categories:
    distinct = np.unique(values[~np.isnan(values)])
    if np.any((np.abs(distinct) >= FLOAT32_EXACT_LIMIT) | (distinct != np.floor(distinct))):
        raise InvalidInput.at(
            pointer,
            f"has values other than whole numbers below {FLOAT32_EXACT_LIMIT:,}; upload such a feature as"
            " one of columns.categorical_features",
        )
    if len(distinct) > MAX_CATEGORIES:
        raise InvalidInput.at(
            pointer,
            f"has {len(distinct):,} different values; a categorical feature has at most {MAX_CATEGORIES:,}"
            " categories",
        )
    return Categories(tuple(str(int(value)) for value in distinct.tolist()))
