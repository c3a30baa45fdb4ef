"""The part of the OpenAPI document that forms for jobs need."""

import json
import re
from typing import Any, get_args

from app.jobs.requests import AnyRequest
from app.jobs.submission import _RESOLVERS
from tests.app.conftest import TestClient
from tools.generate_client import CLIENT


def test_every_kind_has_its_schema(client: TestClient, openapi_document: dict[str, Any]) -> None:
    """Schemas and all that they refer to equal the whole document's, in less than a fifth of its bytes."""
    answer = client.get("/v1/job-schemas")
    kinds, schemas = answer.json()["kinds"], answer.json()["schemas"]
    body = openapi_document["paths"]["/v1/jobs"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    assert set(kinds) == set(body["discriminator"]["mapping"])
    assert kinds["train"] == "TrainRequest"
    assert set(kinds.values()) <= set(schemas)
    assert all(schemas[name] == openapi_document["components"]["schemas"][name] for name in schemas)
    assert set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schemas))) <= set(schemas)
    assert len(answer.content) < len(json.dumps(openapi_document)) / 5


def test_every_request_is_checked_and_has_a_call_of_the_client() -> None:
    """A kind that clients submit has its class, its check before it is queued, and a method."""
    requests = get_args(AnyRequest)
    assert set(_RESOLVERS) == set(requests), "list its check in app/jobs/submission/__init__.py"
    calls = "".join(path.read_text() for path in (CLIENT / "asynchronous").glob("*.py"))
    for request in requests:
        (kind,) = get_args(request.model_fields["kind"].annotation)
        assert f'"kind": "{kind}"' in calls, f"add a call for {kind} to rankery/client/asynchronous/"


def test_unchanged_schemas_are_not_sent_again(client: TestClient) -> None:
    """A request with the ETag of an earlier answer gets 304 without a body."""
    for path in ("/v1/job-schemas", "/openapi.json"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
