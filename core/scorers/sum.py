"""A weighted sum of models, whose file contains the files of its members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from core.data.categories import Categories
from core.data.features import Features, SelectedFeatures, select_columns
from core.errors import ModelError
from core.scorers.model import ScoringModel, TreeModel, categories_by_name, checked_finite
from core.scorers.network_file import (
    is_safetensors,
    read_description,
    read_network,
    safetensors_bytes,
    tensors_of,
)
from core.scorers.parameters import MAX_MEMBERS, WeightedSum
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray, Int64Array, Precision

KIND = WeightedSum.kind
_COPIED_ROWS = 4_096  # number of documents up to which a member's columns are copied


@dataclass(frozen=True, eq=False)
class Member:
    """A model of a sum.

    Attributes:
        reference: Reference of the model when the sum was made: `web:3`.
        feature_names: Names of the model's features in its training dataset.
        precision: Precision of the model's training features.
    """

    reference: str
    content: bytes
    feature_names: tuple[str, ...]
    weight: float
    precision: Precision = "float32"

    @cached_property
    def model(self) -> ScoringModel:
        """Return the parsed model.

        Raises:
            ModelError: The file is damaged, or is a sum itself.
        """
        if not is_safetensors(self.content):
            return TreeModel(ModelText.read(self.content), self.precision)
        if read_description(self.content).get("kind") == KIND:
            raise ModelError(f"{self.reference} is a sum of models itself; list its members instead")
        return read_network(self.content)

    @property
    def categories(self) -> Mapping[str, Categories]:
        """Return the values of the model's categorical features, by name."""
        return categories_by_name(self.model, self.feature_names)


@dataclass(frozen=True, eq=False)
class Sum:
    """A model that scores by `Σ weight · score` of its members, summed in float64 in member order.

    Attributes:
        members: Members, at least one, none a sum itself.
        feature_names: Feature names of all members, without duplicates.
    """

    members: tuple[Member, ...]
    feature_names: tuple[str, ...]

    @classmethod
    def of(cls, members: Sequence[Member]) -> "Sum":
        """Build a sum of models.

        Raises:
            ModelError: No members or too many, or members that disagree on the categories of a feature.
        """
        if not 1 <= len(members) <= MAX_MEMBERS:
            raise ModelError(f"a sum must have 1 to {MAX_MEMBERS} members, but has {len(members)}")
        first: dict[str, tuple[str, Categories | None]] = {}
        for member in members:
            for name in member.feature_names:
                categories = member.categories.get(name)
                reference, others = first.setdefault(name, (member.reference, categories))
                if categories != others:
                    raise ModelError(
                        f"{reference} and {member.reference} have different categories for the feature"
                        f" {name!r}; train both on one dataset, or with the same values in the same order"
                    )
        return cls(tuple(members), tuple(first))

    @property
    def kind(self) -> str:
        """Return `sum`, the kind of this scorer."""
        return KIND

    def description(self) -> dict[str, Any]:
        """Return the kind, and the references and weights of the members, for storage."""
        return {
            "kind": self.kind,
            "models": [member.reference for member in self.members],
            "weights": [member.weight for member in self.members],
        }

    @property
    def size_bytes(self) -> int:
        """Return the approximate memory of the model in bytes."""
        return sum(member.model.size_bytes + len(member.content) for member in self.members)

    @property
    def steps(self) -> int:
        """Return the cost of one score, in units of about one tree split."""
        return sum(member.model.steps for member in self.members)

    @cached_property
    def used_features(self) -> tuple[int, ...]:
        """Return the columns that members with a weight other than 0 read, in order."""
        used = {
            int(columns[column])
            for member, columns in self.parts
            if member.weight != 0.0
            for column in member.model.used_features
        }
        return tuple(sorted(used))

    @property
    def precision(self) -> Precision:
        """Return the highest precision of the members; each member rounds features to its own precision."""
        return max(member.precision for member in self.members)

    @property
    def categories(self) -> Mapping[int, Categories]:
        """Return the values of the categorical features, by column."""
        columns = {name: column for column, name in enumerate(self.feature_names)}
        return {columns[name]: each for member in self.members for name, each in member.categories.items()}

    def score(self, features: FloatArray | SelectedFeatures, threads: int = 1) -> Float64Array:
        """Score documents.

        Args:
            features: (n_documents, n_features) in the order of `feature_names`; NaN where missing.
            threads: Threads to use, where there are enough documents for them.

        Returns:
            (n_documents,) scores; higher ranks first.

        Raises:
            ModelError: The number of features is not the sum's.
            ScoreNotFinite: A score is NaN or infinite.
        """
        if len(features.shape) != 2 or features.shape[1] != len(self.feature_names):
            raise ModelError(
                f"the model needs {len(self.feature_names)} features, but got {features.shape[-1]}"
            )
        total = np.zeros(features.shape[0])
        for (member, columns), uses_all in zip(self.parts, self._uses_all_columns, strict=True):
            chosen = features if uses_all else _select(features, columns)
            total += member.weight * member.model.score(chosen, threads)
        return checked_finite(total)

    @cached_property
    def parts(self) -> tuple[tuple[Member, Int64Array], ...]:
        """Return each member with the columns of its features."""
        columns = {name: column for column, name in enumerate(self.feature_names)}
        return tuple(
            (member, np.array([columns[name] for name in member.feature_names])) for member in self.members
        )

    @cached_property
    def _uses_all_columns(self) -> tuple[bool, ...]:
        """Return for each member whether it has all features of the sum, in the same order."""
        return tuple(np.array_equal(columns, np.arange(len(self.feature_names))) for _, columns in self.parts)


def write_sum(model: Sum) -> bytes:
    """Return the file content of a sum: a description, and the unchanged files of its members."""
    description = {
        "kind": KIND,
        "members": [
            {"model": each.reference, "feature_names": list(each.feature_names), "weight": each.weight}
            | ({} if each.precision == "float32" else {"precision": each.precision})
            for each in model.members
        ],
    }
    files = {
        f"members.{index}": np.frombuffer(each.content, np.uint8) for index, each in enumerate(model.members)
    }
    return safetensors_bytes(description, files)


def read_sum(content: bytes) -> Sum:
    """Read a sum from the content that `write_sum` returned.

    Raises:
        ModelError: The file is damaged, or is not a sum.
    """
    descriptions, tensors = read_description(content).get("members"), tensors_of(content)
    if not isinstance(descriptions, list):
        raise ModelError("the file of the sum does not list its members")
    members = [_member(index, each, tensors) for index, each in enumerate(descriptions)]
    for member in members:
        if len(member.feature_names) != len(member.model.feature_names):
            raise ModelError(
                f"the features of member {member.reference} differ from the features in its file"
            )
    return Sum.of(members)


def _member(index: int, description: Any, tensors: Mapping[str, NDArray[Any]]) -> Member:
    file = tensors.get(f"members.{index}")
    if not isinstance(description, dict) or file is None or file.dtype != np.uint8 or file.ndim != 1:
        raise ModelError(f"member {index} of the sum is missing")
    reference, names, weight = (description.get(name) for name in ("model", "feature_names", "weight"))
    is_named = isinstance(reference, str) and isinstance(names, list)
    if not is_named or not all(isinstance(name, str) for name in names or ()):
        raise ModelError(f"member {index} of the sum has no description")
    if not isinstance(weight, float) or not np.isfinite(weight):
        raise ModelError(f"member {index} of the sum has no weight")
    precision = description.get("precision", "float32")
    if precision not in get_args(Precision):
        raise ModelError(f"member {index} of the sum has an unknown precision of features")
    return Member(str(reference), file.tobytes(), tuple(names or ()), weight, precision)


def _select(features: FloatArray | SelectedFeatures, columns: Int64Array) -> FloatArray | SelectedFeatures:
    if isinstance(features, SelectedFeatures) or len(features) > _COPIED_ROWS:
        return select_columns(cast("Features", features), columns, np.nan)
    chosen: FloatArray = np.take(features, columns, axis=1)
    return chosen
