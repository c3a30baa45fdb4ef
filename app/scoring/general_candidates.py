"""Read candidates from any JSON that is a request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from app.http.pointers import pointer_of
from app.scoring.json_candidates import JsonCandidates
from app.scoring.limits import check_documents
from app.scoring.schemas import FeatureValue, RankRequest
from app.scoring.served_models import ServedModel
from app.settings import ApiSettings
from core.data.categories import Categories
from core.errors import InputProblem, InvalidInput
from core.types import Float32Array

# Enough to see the pattern; a request may hold thousands of documents with the same mistake.
MAX_PROBLEMS = 50
_NONE: Mapping[str, Categories] = MappingProxyType({})


# In every form of a request a number is rounded to float64, and refused where float32 makes it infinite:
# from half a step above float32's largest number on, a tie that goes to even.
INFINITE = (2 - 2.0**-24) * 2.0**127


@dataclass(frozen=True)
class GeneralJson:
    """A JSON request that FastAPI has validated: its reader says what is wrong with each document."""

    body: RankRequest
    is_brief = False

    def read(self, model: ServedModel, settings: ApiSettings) -> JsonCandidates:
        """Return the candidates; see `CandidateReader`."""
        n_documents = sum(len(query.documents) for query in self.body.queries)
        check_documents(n_documents, len(model.feature_names), settings, "/queries")
        return general_candidates(self.body, model.feature_names, model.categories)


def general_candidates(
    request: RankRequest, feature_names: Sequence[str], categories: Mapping[str, Categories] = _NONE
) -> JsonCandidates:
    """Read the candidates of a validated body.

    Raises:
        InvalidInput: For feature names the model does not know, arrays of another length, values beyond
            float32, texts of features that are no categories, and document ids given twice in a query.
    """
    return JsonCandidates(
        [query.id for query in request.queries],
        [[document.id for document in query.documents] for query in request.queries],
        _feature_matrix(request, _columns(feature_names, categories)),
        request.top_k,
        request.explain,
    )


@dataclass(frozen=True)
class _Column:
    index: int
    categories: Categories | None


def _columns(feature_names: Sequence[str], categories: Mapping[str, Categories]) -> dict[str, _Column]:
    return {name: _Column(index, categories.get(name)) for index, name in enumerate(feature_names)}


def _feature_matrix(request: RankRequest, columns: dict[str, _Column]) -> Float32Array:
    n_documents = sum(len(query.documents) for query in request.queries)
    features = np.full((n_documents, len(columns)), np.nan, np.float32)
    problems: list[InputProblem] = []
    row = 0
    for q, query in enumerate(request.queries):
        seen: set[str] = set()
        for d, document in enumerate(query.documents):
            place = pointer_of("queries", q, "documents", d)
            if document.id in seen:
                problems.append(InputProblem(f"{place}/id", f"{document.id!r} is in this query twice"))
            seen.add(document.id)
            problems += _fill(features[row], document.features, columns, f"{place}/features")
            row += 1
            if len(problems) >= MAX_PROBLEMS:
                raise InvalidInput(*problems[:MAX_PROBLEMS])
    if problems:
        raise InvalidInput(*problems)
    return features


def _fill(
    row: np.ndarray[tuple[int], np.dtype[np.float32]],
    values: dict[str, FeatureValue] | list[FeatureValue],
    columns: dict[str, _Column],
    place: str,
) -> list[InputProblem]:
    """Write a document's features into its row and yield the problems."""
    if isinstance(values, list):
        if len(values) != len(columns):
            return [InputProblem(place, f"has {len(values)} values; the model has {len(columns)} features")]
        items: list[tuple[str | int, _Column, FeatureValue]] = [
            (column.index, column, value) for column, value in zip(columns.values(), values, strict=True)
        ]
    else:
        unknown = [name for name in values if name not in columns]
        if unknown:
            shown = unknown[:MAX_PROBLEMS]
            return [InputProblem(place + pointer_of(name), "not a feature of this model") for name in shown]
        items = [(name, columns[name], value) for name, value in values.items()]
    problems = []
    for part, column, value in items:
        if value is None:
            continue
        if isinstance(value, str):
            if column.categories is None:
                problems.append(InputProblem(place + pointer_of(part), "must be a number; it is no category"))
            else:
                row[column.index] = column.categories.code(value)
        elif not -INFINITE < value < INFINITE:
            problems.append(InputProblem(place + pointer_of(part), "is beyond the range of float32"))
        else:
            row[column.index] = (
                value if column.categories is None else column.categories.code_of_number(value)
            )
    return problems
