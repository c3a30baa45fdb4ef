"""The part of the OpenAPI document that forms for jobs need."""

import json
import re
from typing import Any

from tests.app.conftest import TestClient


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


def test_unchanged_schemas_are_not_sent_again(client: TestClient) -> None:
    """A request with the ETag of an earlier answer gets 304 without a body."""
    for path in ("/v1/job-schemas", "/openapi.json"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
