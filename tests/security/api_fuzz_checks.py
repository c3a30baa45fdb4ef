"""Checks of our own for schemathesis, which loads this module by its SCHEMATHESIS_HOOKS."""

import os

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

OPEN_PATHS = {"/healthz", "/readyz"}

# What a schema cannot say, and a valid request is therefore refused for: the places that a 422 may point at.
MEANT: dict[str, str] = {
    "/cursor": "is an id or a row that a page of this list has carried",
    "/Idempotency-Key": "was used for another request; the examples share one key",
    "/alias": "an alias is a name, whose pattern paths do not have to follow to be answered",
    "/label_map": "labels in it are numbers as texts",
    "/systems": "are different systems, however they are spelt",
    "/metrics": "are names of metrics, with a cutoff where they take one, each once",
    "/metric": "is one of the comparison's",
    "/early_stopping": "needs validation data and a metric that is computed",
    "/validation": "is another dataset than the one learnt from, or a part of it that is possible",
    "/test": "is told once",
    "/test_dataset_id": "is another dataset than the one learnt from",
    "/loss": "has parameters that depend on each other",
    "/hyperparameters": "depend on each other",
    "/contract": "has gains for labels in order",
    "/diagnostics": "need a model, or a loss that has them",
    "/model": "or ranking_id: exactly one",
    "/ranking_id": "or model: exactly one",
    "/queries": "have the features of the model, within float32, and each document once",
    "/a": "is a place among the systems",
    "/b": "is a place among the systems, other than a",
    "/limits": "are bounded by the service's own",
    "/query_id": "is a query of the dataset",
    "/columns": "is JSON of its own",
    "/feature_names": "is JSON of its own",
    "/file": "is not empty and comes as a file; or the parts do",
    "/train": "is not empty and comes as a file",
    "/validation_query": "goes with its part",
    "/train_query": "goes with its part",
    "/test_query": "goes with its part",
    "/file_query": "goes with its part",
    "/name": "holds no control characters",
    "/expires_at": "is in the future",
}


@schemathesis.check
def valid_requests_are_taken(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> bool | None:
    """A request that the schema allows is refused for what it means alone."""
    if os.environ.get("RANKERY_FUZZ_WITHOUT_KEY") or response.status_code != 422:
        return None if response.status_code in {413, 422} else positive_data_acceptance(ctx, response, case)
    pointers = [error["pointer"] for error in response.json().get("errors", [{"pointer": ""}])]
    places = {"/" + pointer.split("/")[1] if pointer else "" for pointer in pointers}
    return None if places <= set(MEANT) else positive_data_acceptance(ctx, response, case)


@schemathesis.check
def nobody_comes_in_without_a_key(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> bool | None:
    """Without a key everything but the probes is a 401, whatever else is wrong with it."""
    if not os.environ.get("RANKERY_FUZZ_WITHOUT_KEY") or case.path in OPEN_PATHS:
        return None
    # 4xx of the server itself, which come before anybody asks who it is, tell nothing.
    assert response.status_code in {400, 401, 404, 405, 414, 421, 431}, f"{response.status_code} without a key"
    return None
