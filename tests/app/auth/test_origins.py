"""Requests by pages of other sites are refused."""

from tests.app.auth.conftest import Bearer
from tests.app.conftest import TestClient

OWN = "http://127.0.0.1"
FOREIGN = [
    "http://evil.example",
    "null",
    "http://127.0.0.1:3000",
    "http://127.0.0.1.evil.example",
    "file://",
    "",
    "http://[",
]
LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_a_foreign_origin_is_refused(client: TestClient) -> None:
    """Every method is refused, a preflight included; the answer has no CORS header."""
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        for origin in FOREIGN:
            refused = client.request(method, "/v1/jobs", headers={"Origin": origin})
            assert refused.status_code == 403, (method, origin)
            assert refused.json()["type"] == "/problems/foreign-origin"
            assert not any(name.startswith("access-control") for name in refused.headers)


def test_requests_that_a_foreign_page_sends_are_refused(client: TestClient) -> None:
    """Sec-Fetch-Site marks images, frames and forms of other sites; another port is another site."""
    for site in ("cross-site", "same-site", "anything"):
        for more in (
            {},
            {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
            {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        ):
            headers = {"Sec-Fetch-Site": site, **more}
            assert client.get("/v1/jobs", headers=headers).status_code == 403
        assert client.post("/v1/jobs", headers={"Sec-Fetch-Site": site, **LINK}).status_code == 403


def test_a_link_of_another_site_may_be_followed(client: TestClient) -> None:
    """A user who follows a link of another site gets the page."""
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site", **LINK}).status_code == 200


def test_requests_of_own_pages_and_of_programs_are_accepted(client: TestClient) -> None:
    """Our pages send their own origin; programs and addresses that a user types have none."""
    for headers in ({"Origin": OWN, "Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}):
        assert client.get("/v1/jobs", headers=headers).status_code == 200
        assert client.post("/v1/datasets/synthetic", json={"queries": 1}, headers=headers).status_code == 202


def test_no_answer_allows_other_origins(client: TestClient, bearer: Bearer) -> None:
    """No answer has a CORS header."""
    for path in ("/v1/jobs", "/openapi.json", "/healthz", "/static/favicon.svg"):
        headers = client.get(path, headers={"Origin": OWN, **bearer("read")}).headers
        assert not any(name.startswith("access-control") for name in headers)
