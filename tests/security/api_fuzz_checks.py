"""Additional checks for schemathesis, which loads this module by its SCHEMATHESIS_HOOKS."""

import os
from typing import Any
from urllib.parse import parse_qs, urlsplit

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from app.scoring.tensors import HEAD_BYTES

OPEN_PATHS = {"/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"}

# Conditions that a schema cannot express, by operation and by the member or parameter that must meet them.
# The 422 of a request that conforms to the schema may point at these members only.
_CURSOR = {"/cursor": "is the next_cursor of a page of the same list"}
_LIST = {
    **_CURSOR,
    "/fields": "are fields that its items have",
    "/metric": "exists, and is combined with sort=metric",
}
_KEY = {"/Idempotency-Key": "was not sent with another request before; all examples have the same key"}
_TENSORS = {"/inputs": "are features of the model, and have the number of values of their shape"}
_SELECTION = {"": "has either ids or a filter", "/filter": "has a member that is not null"}
_URL = {"/url": "is the address of a host"}
_NAME = {"/name": "is omitted or is not null"}
_LABELS = {"": "has either ids or a filter, and tags, a project or both"}
_EXPORT = {
    "/feature_names": "are names of the model's features, and the engine's are all different",
    "/format": "is a format for the model's kind of scorer",
    **dict.fromkeys(
        ("/feature_set", "/model_name", "/never_missing", "/score_shift", "/target_version"),
        "is an option or a version that the format has",
    ),
}
CONDITIONS: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        [
            f"{method} /v1/models/{{ref}}/export{part}"
            for method in ("GET", "POST")
            for part in ("", "/archive", "/parity")
        ],
        _EXPORT,
    ),
    **dict.fromkeys(
        [
            f"GET /v1/{name}"
            for name in (
                *("comparisons", "datasets", "evaluations", "jobs", "models", "rankings"),
                *("click-logs", "experiments", "schedules", "studies"),
            )
        ],
        _LIST,
    ),
    **dict.fromkeys(
        [
            *(f"GET /v1/{name}" for name in ("audit", "keys", "model-names")),
            *(f"GET /v1/{name}" for name in ("drift-reports", "trash", "webhooks")),
            "GET /v1/schedules/{schedule_id}/runs",
            "GET /v1/studies/{study_id}/trials",
            "GET /v1/webhooks/{webhook_id}/deliveries",
            "GET /v1/datasets/{dataset_id}/queries",
            "GET /v1/models/{name}/aliases/{alias}/history",
            "GET /v1/models/{ref}/inspections",
            "GET /v1/rankings/{ranking_id}",
        ],
        _CURSOR,
    ),
    **dict.fromkeys(
        [
            f"POST /v1/{kind}/delete"
            for kind in (
                *("comparisons", "datasets", "evaluations", "experiments", "inspections"),
                *("jobs", "models", "rankings", "studies"),
            )
        ],
        _SELECTION,
    ),
    **dict.fromkeys([f"POST /v1/{kind}/labels" for kind in ("jobs", "models")], _LABELS),
    "GET /v1/comparisons/{comparison_id}/queries": {
        **_CURSOR,
        "/a": "is a place among its systems",
        "/b": "is a place among its systems",
        "/metric": "is one of its metrics",
        "/segment": "is one of its segments",
    },
    "GET /v1/evaluations/{evaluation_id}/queries": {
        **_CURSOR,
        "/segment": "is one of its segments",
        "/sort": "is one of its metrics",
    },
    "GET /v1/interleavings": {**_CURSOR, "/fields": "are fields that its items have"},
    "GET /v1/schedules/due-times": {
        "/cron": "is an expression that is due at some time",
        "/timezone": "exists",
    },
    "GET /v1/trainings": {"/metric": "exists"},
    "PATCH /v1/click-logs/{log_id}": _NAME,
    "PATCH /v1/datasets/{dataset_id}": _NAME,
    "PATCH /v1/studies/{study_id}": dict.fromkeys(
        ("/parallel_trials", "/trials"), "is omitted or is not null"
    ),
    "PATCH /v1/webhooks/{webhook_id}": _URL,
    "POST /v1/webhooks": _URL,
    "POST /v1/click-logs/interleaved": _KEY,
    "POST /v1/experiments": {
        **_KEY,
        "/corpus": "is one of the paper",
        "/data": "is synthetic, or a folder below a data root with the needed parts",
        "/dataset_ids": "is not combined with data",
        "/folds": "is combined with a folder that has folds",
        "/paper": "exists",
        "/tables": "are tables and figures of the paper",
    },
    "POST /v1/trash/restore": {"/ids": "have the prefix of a kind of object that is kept in the trash"},
    "POST /v1/uploads": _KEY,
    "POST /v1/trash/empty": {"": "has one of ids, all and older_than_days"},
    "GET /v1/events": {**_CURSOR, "/Last-Event-ID": "is a number, which headers carry as text"},
    "POST /v1/schedules": {
        **_KEY,
        "/cron": "is an expression that is due at some time",
        "/job": "meets the conditions of its kind of job",
        "/promote": "is combined with a training, and names an alias that has a gate",
        "/timezone": "exists",
    },
    "POST /v1/schedules/{schedule_id}/run": _KEY,
    "PATCH /v1/schedules/{schedule_id}": dict.fromkeys(
        ("/cron", "/enabled", "/job", "/name", "/only_new_data", "/timezone"), "is omitted or is not null"
    )
    | {"/promote": "is combined with a training, and names an alias that has a gate"},
    "POST /v1/studies": {
        **_KEY,
        "/base": "meets the conditions of a training",
        "/early_stopping": "is not combined with boosting dart, which rescales earlier trees",
        "/objective": "has a fold that exists",
        "/search_space": "has pointers to parameters of the training, and bounds in their order",
        "/test": "is given unless test_dataset_id is, for the conclusion",
    },
    "GET /v1/comparisons/{comparison_id}/differences": {
        "/a": "is a place among its systems",
        "/b": "is a place among its systems",
        "/metric": "is one of its metrics",
    },
    "GET /v1/comparisons/{comparison_id}/rankings": {"/query_id": "is a query of its dataset"},
    "GET /v1/models/{ref}/trees/{index}": {
        "/index": "is one of its trees",
        "/root": "is one of the tree's splits",
    },
    "POST /v1/datasets": {
        **_KEY,
        "/columns": "is JSON within a text",
        "/feature_names": "is JSON within a text",
        "/file": "comes alone, or train, validation and test without it",
        **dict.fromkeys(("/source", "/parts", "/files"), "are below RANKERY_SOURCES, and one of them"),
        **{f"/{part}_query": "goes with its part" for part in ("file", "train", "validation", "test")},
    },
    "POST /v1/click-logs": {
        **_KEY,
        **dict.fromkeys(("/actions", "/columns"), "is JSON within a text"),
        **dict.fromkeys(("/file", "/files", "/source"), "are below RANKERY_SOURCES, and one of them"),
    },
    "POST /v1/click-logs/served": {**_KEY, "/since": "is before the end", "/actions": "are weights"},
    "POST /v1/interleavings": {**_KEY, "/models": "is given unless rankings is"},
    "POST /v1/interleavings/{interleaving_id}/lists": {
        "/query": "has documents where models rank",
        "/rankings": "are one of each ranker",
    },
    "GET /v1/datasets/folders": {"/folder": "is one below a data root"},
    "POST /v1/datasets/folders": {
        **_KEY,
        "/folder": "is one below a data root, and has judged files",
        **dict.fromkeys(
            (
                *("/columns", "/feature_names", "/format"),
                *("/non_contiguous_queries", "/repeated_features"),
            ),
            "goes with files",
        ),
        "/part": "is one that the folder has",
    },
    "POST /v1/datasets/synthetic": {
        **_KEY,
        "/gains": "increase",
        "/queries": "make no more documents and values than a bound",
        "/relevant_per_query": "goes with sparse data, and is at most the documents of a query",
    },
    "POST /v1/rankings": {**_KEY, "/name": "has printable characters only"},
    "POST /v1/jobs": {
        **_KEY,
        "/diagnostics": "need a model, and a loss whose hyperparameters fit each other",
        "/clicks": "goes with the loss, and has propensities where its correction takes them",
        "/dataset_id": "has the features that regression-em and trust-em read",
        "/early_stopping": "watches a metric, for which there must be validation data",
        "/examination": "goes with the estimator of that name",
        "/judgments": "has cuts or quantiles, which increase",
        "/label_map": "maps numbers, which are texts as names of members",
        "/loss": "has hyperparameters that must fit each other",
        "/metric": "is spelt with a cutoff where it takes one",
        "/metrics": "are spelt with a cutoff where they take one",
        "/model": "is given unless ranking_id is",
        "/models": "are different from each other",
        "/project": "is that of the model's name",
        "/partial_dependence": "names features that the model has",
        "/systems": "are different from each other, in any spelling",
        "/test": "is not combined with test_dataset_id",
        "/test_dataset_id": "is another dataset than the training data",
        "/validation": "is another dataset than the training data, or a fold that exists",
    },
    "POST /v1/jobs/batch": {
        **_KEY,
        "/jobs": "meet the conditions of their kinds of jobs",
        "/repeats": "give no more jobs than one request may queue",
    },
    "POST /v1/keys": {
        "/expires_at": "lies in the future",
        "/scopes": "leave out admin where the key is limited to projects",
    },
    "POST /v1/models": {**_KEY, "/tags": "is JSON within a text"},
    "PATCH /v1/models/{ref}": {"/tags": "are bounded together with those that it has"},
    "POST /v1/models/tags": {"/tags": "are bounded together with those that each has"},
    "POST /v1/models/{ref}/reproduce": _KEY,
    "POST /v1/models/{ref}/distil": {
        **_KEY,
        "/metrics": "are spellings of metrics",
        "/dataset_id": "is given if the model was imported",
        "/features": "names features to use, or features to leave out",
        "/test_dataset_id": "is another dataset than the training data",
    },
    "POST /v1/models/{name}/aliases/{alias}/rollback": _KEY,
    "PUT /v1/models/{name}/aliases/{alias}/gate": {
        "/alias": "is a name, defined by a sentence and not a pattern",
        "/dataset_id": "has features, or an interleaving decides",
        **dict.fromkeys(("/max_slice_drop", "/better_than_baselines"), "go with a dataset"),
        "/label_map": "maps numbers, which are texts as names of members",
        "/metric": "is spelt with a cutoff where it takes one",
    },
    **dict.fromkeys(
        [f"POST /v2/models/{{name}}{version}/infer" for version in ("", "/versions/{version}")], _TENSORS
    ),
    "POST /v1/models/{ref}/rank": {
        "/queries": "have the model's features, and each document once",
        "/top_k": "is in the URL for tables, and in the body for JSON",
        **dict.fromkeys(("/explain", "/interleaving"), "goes with interleaved lists of models or not"),
    },
    "PUT /v1/models/{name}/aliases/{alias}": {"/alias": "is a name, defined by a sentence and not a pattern"},
}
# Problems of unsuitable models and datasets, which a schema of a request cannot express.
_PROBLEMS_OF_STORED_OBJECTS = ("/problems/unfit-model", "/problems/unreadable-dataset")
# JSON Schema accepts 2.0 as a whole number, the API does not; schemathesis compares 2**63 - 1 as a double.
_STRICTER_THAN_SCHEMA = ("must be a whole number", f"must be less than or equal to {2**63 - 1}")
# HTTP lets a server ignore headers that it does not know.
_UNKNOWN_HEADERS = "object with unexpected properties"
# schemathesis reports this violation for many valid texts; the pattern forbids only NUL.
_NOT_A_DESCRIPTION = "violates `pattern` at /properties/description"


@schemathesis.check
def valid_requests_are_accepted(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> bool | None:
    """A request that the schema allows is refused only for a listed condition."""
    if os.environ.get("RANKERY_FUZZ_WITHOUT_KEY") or response.status_code == 413:
        return None  # without a key, another check applies; 413: too long for the server
    sent = response.request.headers
    if response.status_code == 416:
        return None  # the range begins after the end of the file
    is_binary_inference = (
        case.operation.label.endswith("/infer") and case.media_type == "application/octet-stream"
    )
    if is_binary_inference and response.status_code == 400:
        return None  # the body does not begin with the JSON of a request
    if response.status_code == 400 and sent.get(HEAD_BYTES) not in (None, sent.get("Content-Length")):
        return None  # for a body of JSON alone, both lengths must be equal
    length_headers = [name in sent for name in ("Upload-Length", "Upload-Defer-Length")]
    if (
        case.operation.label == "POST /v1/uploads"
        and response.status_code == 400
        and sum(length_headers) != 1
    ):
        return None  # a condition on two headers
    # An answer to HEAD has no body.
    problem = response.json() if response.status_code == 422 and response.content else {}
    if problem.get("type") in _PROBLEMS_OF_STORED_OBJECTS:
        return None
    errors = problem.get("errors") or _inference_errors(case.operation.label, response)
    if errors and all(_is_listed(case.operation.label, error) for error in errors):
        return None
    return positive_data_acceptance(ctx, response, case)


@schemathesis.check
def invalid_requests_are_refused(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> bool | None:
    """A request that the schema does not allow is refused."""
    if case.operation.label == "POST /v1/models" and isinstance(case.body, dict) and case.meta:
        claim = case.meta.phase.data.description or ""
        if claim.startswith(_NOT_A_DESCRIPTION) and "\x00" not in str(case.body.get("description")):
            return None
    data = case.meta.phase.data if case.meta else None
    negated = (data.description or "").lower() if data else ""
    if data and data.parameter_location is ParameterLocation.HEADER and negated.startswith(_UNKNOWN_HEADERS):
        return None
    query = parse_qs(urlsplit(str(response.request.url)).query, keep_blank_values=True)
    if case.operation.label == "GET /v1/trainings" and set(query) == {"job"}:
        return None  # every text is an id, and a metric without a value is not sent
    return negative_data_rejection(ctx, response, case)


def _inference_errors(operation: str, response: schemathesis.Response) -> list[dict[str, str]]:
    """Return the pointer and detail in an error of the inference endpoint; none for other operations."""
    if not operation.endswith("/infer") or response.status_code != 400:
        return []
    pointer, _, detail = str(response.json()["error"]).partition(": ")
    return [{"pointer": pointer, "detail": detail}] if pointer.startswith("/inputs") else []


def _is_listed(operation: str, error: dict[str, str]) -> bool:
    place = "/" + error["pointer"].split("/")[1] if error["pointer"] else ""
    return place in CONDITIONS.get(operation, {}) or error["detail"] in _STRICTER_THAN_SCHEMA


@schemathesis.check
def requests_without_a_key_are_refused(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> bool | None:
    """Without a key, all requests except probes are refused, whatever else is wrong with them."""
    if not os.environ.get("RANKERY_FUZZ_WITHOUT_KEY") or case.path in OPEN_PATHS:
        return None
    # Errors of the HTTP server and of the router come before authentication, and reveal nothing.
    assert response.status_code in {400, 401, 404, 405, 414, 421, 431}, (
        f"{response.status_code} without a key"
    )
    return None
