"""Security headers of every response."""

import pytest

from tests.app.auth.conftest import Bearer
from tests.app.conftest import TestClient

ANSWERS = [
    ("GET", "/", 200),
    ("GET", "/docs", 200),
    ("GET", "/sign-in", 200),
    ("GET", "/v1/jobs", 200),
    ("GET", "/v1/jobs/job_1", 404),
    ("POST", "/v1/jobs", 422),
    ("PUT", "/v1/jobs", 405),
    ("GET", "/static/favicon.svg", 200),
    ("GET", "/openapi.json", 200),
    ("GET", "/healthz", 200),
    ("GET", "/readyz", 503),
    ("GET", "/nothing", 404),
]


@pytest.mark.long
def test_every_answer_has_the_security_headers(client: TestClient, bearer: Bearer) -> None:
    """The headers forbid frames, guessed media types, cross-origin reads and scripts of other origins."""
    for method, path, status in ANSWERS:
        answer = client.request(method, path, headers=bearer("admin"), json={} if method == "POST" else None)
        assert answer.status_code == status, path
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
        assert policy["style-src"] == policy["font-src"] == "'self'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in answer.headers["permissions-policy"]


def test_scripts_and_style_sheets_have_only_the_headers_that_apply_to_them(
    client: TestClient, bearer: Bearer
) -> None:
    """A page loads up to 50 such files; the other security headers affect only documents."""
    for path in ("/static/page/api.js", "/static/styles/text.css"):
        headers = client.get(path, headers=bearer("admin")).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert not {"content-security-policy", "permissions-policy"} & set(headers)


def test_refusals_have_the_security_headers(client: TestClient, bearer: Bearer) -> None:
    """Answers with 401, 421 and 403 have the headers that other answers have."""
    foreign: tuple[dict[str, str], ...] = ({}, {"Host": "evil.example"}, {"Origin": "http://evil.example"})
    for headers, status in zip(foreign, (401, 421, 403), strict=True):
        answer = client.get("/v1/jobs", headers=headers)
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "content-security-policy" in answer.headers
