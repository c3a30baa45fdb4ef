"""Slow path: read candidates from any valid JSON request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from app.scoring.json_candidates import JsonCandidates
from app.scoring.schemas import FeatureValue, NamedValue, RankRequest
from app.served.rankings import Viewer
from core.data.categories import Categories
from core.data.feature_choice import feature_blocks
from core.errors import InputProblem, InvalidInput, pointer_of
from core.names import counted
from core.types import FloatArray, Precision

# Enough to see a pattern: a request may have the same mistake in thousands of documents.
MAX_PROBLEMS = 50
_NO_CATEGORIES: Mapping[str, Categories] = MappingProxyType({})

# The smallest number that float32 rounds to infinity: half a step above its largest number, a tie that
# rounds to even. Requests of all formats refuse such numbers.
INFINITE = (2 - 2.0**-24) * 2.0**127


def slow_candidates(
    request: RankRequest,
    feature_names: Sequence[str],
    categories: Mapping[str, Categories] = _NO_CATEGORIES,
    precision: Precision = "float32",
) -> JsonCandidates:
    """Read the candidates of a validated body.

    Args:
        categories: The values of the categorical features by name.
        precision: The dtype to round numbers to.

    Raises:
        InvalidInput: A feature name is unknown, is given both by name and by block, or has a text but is not
            categorical. An array has another length, a value is beyond float32, or a query repeats a
            document id.
    """
    return JsonCandidates(
        [query.id for query in request.queries],
        [[document.id for document in query.documents] for query in request.queries],
        _feature_matrix(request, _Model.of(feature_names, categories), precision),
        request.top_k,
        request.explain,
        request.keep,
        Viewer(request.user, request.session),
        request.interleaving,
    )


@dataclass(frozen=True)
class _Column:
    index: int
    categories: Categories | None


@dataclass(frozen=True)
class _Model:
    columns: dict[str, _Column]
    blocks: dict[str, tuple[_Column, ...]]

    @classmethod
    def of(cls, feature_names: Sequence[str], categories: Mapping[str, Categories]) -> "_Model":
        columns = [_Column(index, categories.get(name)) for index, name in enumerate(feature_names)]
        blocks = feature_blocks(feature_names).items()
        return cls(
            dict(zip(feature_names, columns, strict=True)),
            {name: tuple(columns[block.start : block.stop]) for name, block in blocks},
        )


# Values of a document, each with the parts of its pointer within `features`, and its column.
_Items = list[tuple[tuple[str | int, ...], _Column, FeatureValue]]


def _feature_matrix(request: RankRequest, model: _Model, precision: Precision) -> FloatArray:
    n_documents = sum(len(query.documents) for query in request.queries)
    features = np.full((n_documents, len(model.columns)), np.nan, precision)
    problems: list[InputProblem] = []
    row = 0
    for q, query in enumerate(request.queries):
        seen: set[str] = set()
        for d, document in enumerate(query.documents):
            pointer = pointer_of("queries", q, "documents", d)
            if document.id in seen:
                problems.append(InputProblem(f"{pointer}/id", f"{document.id!r} is in this query twice"))
            seen.add(document.id)
            problems += _fill_row(features[row], document.features, model, f"{pointer}/features")
            row += 1
            if len(problems) >= MAX_PROBLEMS:
                raise InvalidInput(*problems[:MAX_PROBLEMS])
    if problems:
        raise InvalidInput(*problems)
    return features


def _fill_row(
    row: FloatArray,
    values: dict[str, NamedValue] | list[FeatureValue],
    model: _Model,
    pointer: str,
) -> list[InputProblem]:
    """Write a document's features into its row and return the problems."""
    if isinstance(values, list):
        if len(values) != len(row):
            detail = f"has {counted(len(values), 'value')}; the model has {counted(len(row), 'feature')}"
            return [InputProblem(pointer, detail)]
        numbered = enumerate(zip(model.columns.values(), values, strict=True))
        items: _Items = [((index,), column, value) for index, (column, value) in numbered]
        problems: list[InputProblem] = []
    else:
        items, problems = _items(values, model, pointer)
    if problems:
        return problems
    for parts, column, value in items:
        if len(problems) == MAX_PROBLEMS:
            return problems
        if value is None:
            continue
        if isinstance(value, str):
            if column.categories is None:
                detail = "must be a number; the feature is not categorical"
                problems.append(InputProblem(pointer + pointer_of(*parts), detail))
            else:
                row[column.index] = column.categories.code(value)
        elif not (abs(value) < INFINITE and abs(float(value)) < INFINITE):
            problems.append(InputProblem(pointer + pointer_of(*parts), "is beyond the range of float32"))
        else:
            row[column.index] = (
                float(value) if column.categories is None else column.categories.code_of_number(value)
            )
    return problems


def _items(values: dict[str, NamedValue], model: _Model, pointer: str) -> tuple[_Items, list[InputProblem]]:
    """Return the values of a features object with their columns, and its invalid names as problems."""
    items: _Items = []
    problems: list[InputProblem] = []
    owners: dict[int, str] = {}
    for name, value in values.items():
        if len(problems) == MAX_PROBLEMS:
            return items, problems
        block = model.blocks.get(name)
        detail = _block_problem(value, block) if block else _feature_problem(name, value, model)
        if detail is not None:
            problems.append(InputProblem(pointer + pointer_of(name), detail))
        elif not isinstance(value, list):
            items += [((name,), model.columns[name], value)] if block is None else []
        elif block is not None:
            items += [
                ((name, index), column, number)
                for index, (column, number) in enumerate(zip(block, value, strict=True))
            ]
            owners |= {column.index: name for column in block}
    for parts, column, _ in items if owners else ():
        if len(parts) == 1 and column.index in owners:
            detail = f"is also given by {owners[column.index]!r}"
            problems.append(InputProblem(pointer + pointer_of(*parts), detail))
    return items, problems[:MAX_PROBLEMS]


def _feature_problem(name: str, value: NamedValue, model: _Model) -> str | None:
    if name not in model.columns:
        return "not a feature of this model"
    return "must be a number; a list is only for a block of features" if isinstance(value, list) else None


def _block_problem(value: NamedValue, block: Sequence[_Column]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, list):
        return f"must be a list of {len(block)} numbers, one for each feature of the block"
    if len(value) != len(block):
        return f"has {len(value)} values; the block has {len(block)} features"
    return None
