"""Convert short argument forms to API fields."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from rankery.client.references import HasId, described, id_of, mapping_of
from rankery.client.schemas import requests
from rankery.errors import InvalidArgument, WrongType
from rankery.grids import pointer_of, searched_value
from rankery.json_text import plain_value

_DEFAULT_OPTIONS = {"columns": {}, "non_contiguous_queries": "regroup", "repeated_features": "last"}


class Columns(TypedDict, total=False):
    """Columns of a table; detected by common names if omitted."""

    label: str
    query: str
    document: str
    query_weight: str
    document_weight: str
    query_text: str
    document_title: str
    document_url: str
    query_columns: Sequence[str]
    document_columns: Sequence[str]
    features: Sequence[str]
    categorical_features: Sequence[str]
    ignore: Sequence[str]


class CandidateColumns(TypedDict, total=False):
    """Columns of candidates; by default those with usual names, such as `query_id` and `document_id`."""

    query: str
    document: str
    ignore: Sequence[str]


class BaseJobFields(TypedDict, total=False):
    """Fields of every job."""

    name: str | None
    """Display name; by default that of its result"""

    notes: str | None
    """Notes, any text"""

    project: str | None
    """Project of the job"""

    priority: str | None
    """`low`, `normal` or `high`"""

    limits: requests.LimitsRequest | None
    """`{"seconds", "memory_bytes"}` above which the job fails"""


class JobFields(BaseJobFields, total=False):
    """Fields of a job that makes no model."""

    tags: Mapping[str, str]
    """Tags of the job"""


class ModelJobFields(JobFields, total=False):
    """Fields of a job that uses a model."""

    allow_absent_features: bool | None
    """Continue if a dataset lacks more than half of the features in use"""


class MeasurementFields(ModelJobFields, total=False):
    """Fields of a job that measures a model or a ranking."""

    label_map: Mapping[str, float] | None
    """Replacement of labels, `{"label": value}` with labels as text"""


class TrainingJobFields(BaseJobFields, total=False):
    """Fields of the job of a training, whose model has the tags."""

    allow_absent_features: bool | None
    """Continue if a dataset lacks more than half of the features in use"""

    label_map: Mapping[str, float] | None
    """Replacement of labels, `{"label": value}` with labels as text"""


class TrainingFields(requests.TrainingOptions, TrainingJobFields, total=False):
    """Declared options of a training, and fields of its job."""

    clicks: Mapping[str, Any]
    """Train on clicks: `{"log": log, "correction": "ips", "propensity_job": job}`; see the API"""


class ExportOptions(TypedDict, total=False):
    """Options of export formats; the service lists the options of each format."""

    target_version: str
    """Version of the engine; the newest by default"""

    model_name: str
    """Name of the model in the engine; by default its name and version"""

    feature_set: str
    """Feature set of Elasticsearch or OpenSearch, feature store of Solr"""

    score_shift: bool
    """Raise all scores by one number so that none is below 0, as Lucene requires"""

    never_missing: bool
    """Assume that every document has every feature"""

    feature_names: Mapping[str, str]
    """Feature names in the engine, by the model's names"""


DEFAULT_METRICS = ("ndcg@5", "ndcg@10")


def loss_field(loss: "str | requests.Loss") -> dict[str, Any] | None:
    """Return the `loss` of a request: a name selects its defaults; None for a sum of models."""
    if loss is None:
        return None
    return {"name": loss} if isinstance(loss, str) else mapping_of(loss, "the name of a loss or a dictionary")


def scorer_field(scorer: "str | requests.Scorer | None") -> dict[str, Any] | None:
    """Return the `scorer` of a request: a kind selects its defaults."""
    if scorer is None:
        return None
    return (
        {"kind": scorer}
        if isinstance(scorer, str)
        else mapping_of(scorer, "a kind of scorer or a dictionary")
    )


def hold_out_field(
    held: "str | HasId | float | requests.Validation | requests.HoldOut | None",
) -> dict[str, Any] | None:
    """Return a hold-out of a request: a dataset, or a share of the queries if it is a number."""
    if held is None:
        return None
    if isinstance(held, Mapping):
        return dict(held)
    value = plain_value(held)
    if isinstance(value, int | float):
        return {"fraction": float(value)}
    return {"dataset_id": id_of(value)}


def validation_field(
    validation: "str | HasId | float | requests.Validation | None", folds: "int | str | None"
) -> dict[str, Any] | None:
    """Return the `validation` of a request: folds by their number or their column, or a hold-out.

    Raises:
        InvalidArgument: Both are given.
    """
    if folds is None:
        return hold_out_field(validation)
    if validation is not None:
        raise InvalidArgument("folds and validation exclude each other: each fold is held out once")
    return {"fold_column": folds} if isinstance(folds, str) else {"folds": folds}


def test_fields(test: "str | HasId | float | requests.HoldOut | None") -> dict[str, Any]:
    """Return the test fields of a training request."""
    held = hold_out_field(test)
    if held is None:
        return {}
    return {"test_dataset_id": held["dataset_id"]} if "dataset_id" in held else {"test": held}


def clicks_field(clicks: "Mapping[str, Any] | None") -> dict[str, Any] | None:
    """Return the `clicks` of a request; a click log and a job become their ids."""
    if clicks is None:
        return None
    fields = mapping_of(clicks, "a dictionary such as {'log': log, 'correction': 'none'}")
    ids = {name: id_of(fields[name]) for name in ("log", "propensity_job") if fields.get(name) is not None}
    return fields | ids


def distribution_field(distribution: "int | requests.DistributionRequest | None") -> dict[str, Any] | None:
    """Return the `distribution` of a request; a number is the maximum number of ranks."""
    if distribution is None:
        return None
    if isinstance(distribution, Mapping):
        return dict(distribution)
    return {"ranks": {"at_most": distribution}}


def search_space_field(space: "Mapping[str, Any]", *, is_network: bool = False) -> dict[str, Any]:
    """Return the `search_space` of a request: parameters by JSON pointer.

    Args:
        space: By pointer, or by name as in a grid: `(low, high)`, `(low, high, "log")`, a list of choices, or
            a parameter in the API's form.
        is_network: Whether names are a network's hyperparameters.

    Raises:
        InvalidArgument: A parameter has none of these forms.

    Example:
        >>> search_space_field({"num_leaves": (4, 64, "log")})
        {'/hyperparameters/num_leaves': {'type': 'int', 'low': 4, 'high': 64, 'log': True}}
    """
    parameters = mapping_of(space, "a search space, such as {'num_leaves': (4, 64)},")
    pointers = {name: pointer_of(name, is_network=is_network) for name in parameters}
    return {pointer: _search_parameter(name, pointer, parameters[name]) for name, pointer in pointers.items()}


def trial_parameters(values: "Mapping[str, Any]", *, is_network: bool = False) -> dict[str, Any]:
    """Return the `parameters` of a trial by JSON pointer, given names or pointers as in a search space."""
    pointers = {name: pointer_of(name, is_network=is_network) for name in values}
    return {pointer: searched_value(pointer, values[name]) for name, pointer in pointers.items()}


def _search_parameter(name: str, pointer: str, parameter: Any) -> dict[str, Any]:
    parameter = tuple(map(plain_value, parameter)) if isinstance(parameter, tuple) else plain_value(parameter)
    if isinstance(parameter, Mapping):
        return dict(parameter)
    if isinstance(parameter, list):
        return {"type": "choice", "choices": [searched_value(pointer, choice) for choice in parameter]}
    match parameter:
        case (int() | float() as low, int() | float() as high, *rest) if rest in ([], ["log"]):
            kind = "int" if isinstance(low, int) and isinstance(high, int) else "float"
            return {"type": kind, "low": low, "high": high, "log": bool(rest)}
    raise InvalidArgument(f'{name}: must be (low, high), (low, high, "log"), a list of choices, or an object')


def texts_field(texts: "str | Sequence[str] | None") -> list[str] | None:
    """Return a list of names for a request; one text is a list of one name.

    Raises:
        WrongType: The argument is of another type.
    """
    if texts is None:
        return None
    if isinstance(texts, Iterable):
        return [texts] if isinstance(texts, str) else list(texts)
    raise WrongType(f"a text or a list of texts is expected here, not {described(texts)}")


def ids_field(things: Any) -> list[str] | None:
    """Return a list of ids for a request; one text or object is a list of one id.

    Raises:
        WrongType: An item is neither a text nor an object of the client.
    """
    if things is None:
        return None
    is_one = isinstance(things, str) or hasattr(things, "id") or not isinstance(things, Iterable)
    return [id_of(one) for one in ([things] if is_one else things)]


def early_stopping_field(
    early_stopping: "int | requests.EarlyStoppingRequest | None", metrics: Sequence[str] | None
) -> dict[str, Any] | None:
    """Return the `early_stopping` of a request; a number is the iterations without a better first metric."""
    if early_stopping is None:
        return None
    if isinstance(early_stopping, Mapping):
        return dict(early_stopping)
    return {"metric": (metrics or DEFAULT_METRICS)[0], "rounds": early_stopping}


def was_read_with(source: Mapping[str, Any], columns: "Mapping[str, Any] | None") -> bool:
    """Return whether a dataset's file was read with these column roles, and otherwise with default options.

    Args:
        source: The `source` of the dataset.
        columns: Column roles; None for the default.
    """
    return changed_options(source) == ({"columns": dict(columns)} if columns else {})


def changed_options(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with which a dataset's file was read that differ from the defaults."""
    options = source.get("options") or {}
    return {name: value for name, value in options.items() if _DEFAULT_OPTIONS.get(name) != value}
