"""Replace the names of request fields in errors by the options of the command line."""

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rankery.cli.options import COLUMNS_OPTION, LABEL_MAP_OPTION, LIST_ROLES, ROLES

# Column roles as the table reader and its errors spell them.
_ROLE_FIELD = re.compile(rf"\bcolumns\.({'|'.join((*ROLES, *LIST_ROLES))})\b(\.\d+)?")
# The label map of a study or a grid has a longer pointer, such as `/base/label_map`.
_COLUMNS_POINTER = re.compile(r"(?<![\w/])/columns/(\w+)(?=: )")
_LABEL_MAP_POINTER = re.compile(r"(/\w+)*/label_map\b")
_POINTER = re.compile(r"(?<![\w/])/([a-z]\w*(?:/[\w.~+-]+)*)(?=: )")
# Objects in which the request of a study or a schedule holds that of a training.
_OUTER = ("base", "job")
# Fields of requests whose option has another name; the first one that the command has is meant.
_OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "budget_seconds": ("budget",),
        "candidates": ("candidate",),
        "contract": ("preset",),
        "count": ("repeats",),
        "dataset_id": ("dataset", "data"),
        "distribution": ("ranks",),
        "early_stopping_rounds": ("early_stopping",),
        "events": ("event",),
        "leave_out": ("leave_out_feature",),
        "max_slice_drop": ("max_segment_drop",),
        "metrics": ("metric",),
        "min_slice_queries": ("min_segment_queries",),
        "model_name": ("name", "model"),
        "models": ("model",),
        "parallel_trials": ("parallel",),
        "rankings": ("ranking",),
        "test_dataset": ("test",),
        "test_dataset_id": ("test",),
        "url": ("receiver",),
        "use": ("use_feature",),
        "loss/name": ("loss",),
        "scorer/kind": ("scorer",),
        "scorer/hidden": ("hidden",),
        "scorer/epochs": ("epochs",),
        "clicks/log": ("clicks",),
        "validation/dataset": ("validation",),
        "validation/dataset_id": ("validation",),
    }
)
# Objects whose members are values NAME=VALUE of an option, with the prefix of the name.
_SETTINGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "clicks": ("click_option", ""),
        "columns": ("columns", ""),
        "hyperparameters": ("set", ""),
        "loss": ("loss_option", ""),
        "scorer": ("set", "scorer."),
        "search_space": ("space", ""),
    }
)


def with_column_options(sentence: str) -> str:
    r"""Replace field names such as `columns.query` and `/label_map` in an error by the options for them.

    Example:
        >>> with_column_options("expected a column for the query, given in columns.query")
        'expected a column for the query, given in --columns \'{"query": …}\''
        >>> with_column_options("/base/label_map: map missing labels")
        '--label-map: map missing labels'
        >>> with_column_options("/columns/lable: unknown; did you mean label?")
        '--columns lable: unknown; did you mean label?'
    """

    def option(field: re.Match[str]) -> str:
        value = "…" if field[1] in ROLES else "[…]"
        return f"{COLUMNS_OPTION} '{{{json.dumps(field[1])}: {value}}}'"

    sentence = _COLUMNS_POINTER.sub(rf"{COLUMNS_OPTION} \1", _ROLE_FIELD.sub(option, sentence))
    return _LABEL_MAP_POINTER.sub(LABEL_MAP_OPTION, sentence)


def with_options(sentence: str, options: Mapping[str, str]) -> str:
    """Replace the JSON pointers in an error of the service by the options for them.

    Args:
        options: Options and arguments of the command by the name of their parameter.

    Example:
        >>> with_options("/budget_seconds: must be at least 10", {"budget": "--budget"})
        '--budget: must be at least 10'
        >>> with_options("/base/loss/sigma: must be above 0", {"loss_option": "--loss-option"})
        '--loss-option sigma: must be above 0'
        >>> with_options("/validation/dataset_id: not ready", {"data": "DATA", "validation": "--validation"})
        '--validation: not ready'
    """

    def option(pointer: re.Match[str]) -> str:
        parts = pointer[1].split("/")
        return _option_of(parts[1:] if parts[0] in _OUTER else parts, options) or pointer[0]

    return _POINTER.sub(option, sentence)


def _option_of(parts: Sequence[str], options: Mapping[str, str]) -> str | None:
    """Return the option for a field, else for the innermost object around it with an option, else None."""
    paths = ["/".join(parts[:2]), *reversed(parts)]
    if len(parts) > 1 and parts[0] in _SETTINGS:
        setting, prefix = _SETTINGS[parts[0]]
        if setting in options and paths[0] not in _OPTIONS:
            return f"{options[setting]} {prefix}{_setting_name(parts[1])}"
    names = (name for path in paths for name in (path, *_OPTIONS.get(path, ())))
    return next((options[name] for name in names if name in options), None)


def _setting_name(member: str) -> str:
    """Return the name of a setting; the members of a search space are themselves pointers.

    Example:
        >>> _setting_name("num_leaves"), _setting_name("~1hyperparameters~1num_leaves")
        ('num_leaves', 'num_leaves')
        >>> _setting_name("~1loss~1sigma")
        'loss.sigma'
    """
    return member.replace("~1", "/").removeprefix("/hyperparameters").removeprefix("/").replace("/", ".")
