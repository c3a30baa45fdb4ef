"""The categories of a model: the last line of its text, `pandas_categorical`.

LightGBM's Python package writes to this line, as JSON, the values of each categorical column of a DataFrame,
in column order; a category's code is its position in the list. The parameter `categorical_feature` has the
column numbers.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.data import RankingDataset
from core.data.categories import Categories
from core.errors import ModelError

_LINE_PREFIX = "\npandas_categorical:"
_PARAMETER = re.compile(r"^\[categorical_feature: (\d+(?:,\d+)*)\]$", re.MULTILINE)
_CODE = re.compile(r"-?\d{1,18}")
_NO_CATEGORIES: Mapping[int, Categories] = MappingProxyType({})


def category_lists(dataset: RankingDataset) -> list[list[bool] | list[int] | list[str]]:
    """Return the values of each categorical feature as LightGBM writes them: integers as JSON numbers."""
    names = [dataset.feature_names[column] for column in dataset.categorical_columns]
    return [dataset.categories[name].typed_values for name in names]


def read_categories(tail: str, feature_infos: list[str]) -> Mapping[int, Categories]:
    """Read the categories of a model by column.

    Args:
        tail: Text that follows the trees in the model text.
        feature_infos: The values of each feature as the head of the text has them: `0:1:2` for categories,
            `[0:1]` for numbers, `none` for a constant.

    Returns:
        Categories by column; empty where the text has no lists, or lists that cannot be those of its
        categorical columns: then features are codes. LightGBM also lists ordered categories, which are no
        categorical columns, and no whole numbers that are categorical by parameter.

    Raises:
        ModelError: The line `pandas_categorical` is damaged.
    """
    lists, columns = listed_categories(tail), _columns(tail, feature_infos)
    if len(columns) != len(lists):
        return _NO_CATEGORIES
    by_column = {column: _categories(each) for column, each in zip(columns, lists, strict=True)}
    if any(_largest_code(feature_infos[column]) >= len(each.values) for column, each in by_column.items()):
        return _NO_CATEGORIES
    return MappingProxyType(by_column)


def listed_categories(tail: str) -> list[list[Any]]:
    """Return the lists of categories of a model text, or of its end; none without such a line.

    Raises:
        ModelError: The line `pandas_categorical` is damaged.
    """
    line = tail.rpartition(_LINE_PREFIX)[2].strip() if _LINE_PREFIX in tail else "null"
    try:
        lists = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ModelError("the model's last line, pandas_categorical, is not JSON") from error
    if lists is None:
        return []
    if not isinstance(lists, list) or not all(isinstance(each, list) for each in lists):
        raise ModelError("the model's last line, pandas_categorical, is not a list of lists")
    return lists


def _largest_code(feature_info: str) -> int:
    """Return the largest code of a categorical feature, -1 where its codes are unknown."""
    codes = feature_info.split(":")
    return max(map(int, codes)) if all(_CODE.fullmatch(code) for code in codes) else -1


def _columns(tail: str, feature_infos: list[str]) -> list[int]:
    parameter = _PARAMETER.search(tail)
    if parameter is not None:
        columns = sorted({int(column) for column in parameter[1].split(",")})
        return columns if columns[-1] < len(feature_infos) else []
    return [column for column, values in enumerate(feature_infos) if values[:1] not in ("[", "n", "")]


def _categories(values: list[Any]) -> Categories:
    texts = tuple(map(_text, values))
    if len(set(texts)) < len(texts):
        raise ModelError("the model lists a category twice")
    return Categories(texts)


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
    raise ModelError("a category of the model is neither a string nor a number")
