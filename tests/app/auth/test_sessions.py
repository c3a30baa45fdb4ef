"""Signing in with a key: the cookie, its scopes, and the redirect."""

import hashlib
from datetime import timedelta

import pytest
from fastapi import FastAPI

from app.dashboard.sign_in import same_site_url
from core.store import BrowserSession, Store
from core.store.clock import utc_now
from tests.app.auth.conftest import Bearer, Secrets
from tests.app.conftest import Answer, TestClient

OWN = {"Origin": "http://127.0.0.1"}
HTML = {"Accept": "text/html"}


def sign_in(client: TestClient, key: str, next: str = "/") -> Answer:
    """Send the sign-in form."""
    form = {"key": key, "next": next}
    answer: Answer = client.post("/sign-in", data=form, headers=OWN, follow_redirects=False)
    return answer


def test_a_key_gives_a_cookie_that_scripts_and_other_sites_do_not_see(
    client: TestClient, secrets: Secrets, store: Store
) -> None:
    """The cookie is HttpOnly, SameSite=Strict and lasts twelve hours; the database stores only its hash."""
    answer = sign_in(client, secrets["read"], "/models")
    assert (answer.status_code, answer.headers["location"]) == (303, "/models")
    assert answer.headers["set-cookie"].lower().split("; ")[1:] == [
        "httponly",
        "max-age=43200",
        "path=/",
        "samesite=strict",
    ]
    token = client.cookies["rankery_session"]
    assert len(token) == 43
    with store.read() as tx:
        session = tx.api_keys._session.get(BrowserSession, hashlib.sha256(token.encode()).hexdigest())
    assert session is not None
    assert timedelta(hours=11.9) < session.expires_at - utc_now() <= timedelta(hours=12)
    assert client.get("/v1/jobs").status_code == 200


def test_over_https_the_cookie_is_secure(application: FastAPI, client: TestClient, secrets: Secrets) -> None:
    """The cookie is `Secure`, and only HTTPS answers have strict transport security."""
    https = TestClient(application, base_url="https://127.0.0.1")
    answer = https.post("/sign-in", data={"key": secrets["read"]}, follow_redirects=False)
    assert "; secure" in answer.headers["set-cookie"].lower()
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    assert "strict-transport-security" not in client.get("/sign-in").headers


def test_a_wrong_key_is_reported_on_the_page(client: TestClient, secrets: Secrets) -> None:
    """401 sets no cookie, and the page does not repeat the key."""
    answer = sign_in(client, "rk_<b>wrong", "/models")
    assert answer.status_code == 401
    assert "the API key is unknown, expired or revoked" in answer.text
    assert 'name="next" value="/models"' in answer.text
    assert "wrong" not in answer.text
    assert "set-cookie" not in answer.headers


def test_a_key_without_the_scope_read_cannot_open_the_dashboard(client: TestClient, secrets: Secrets) -> None:
    """The answer for a key with the scope score names the missing scope."""
    answer = sign_in(client, secrets["score"])
    assert answer.status_code == 403
    assert "this request needs the scope read" in answer.text


def test_writes_with_a_cookie_are_accepted_only_from_own_pages(client: TestClient, secrets: Secrets) -> None:
    """Writing with a cookie needs a header that identifies our own page as the origin."""
    sign_in(client, secrets["write"])
    body = {"queries": 1}
    for headers, status in (
        ({}, 401),
        ({"Sec-Fetch-Site": "none"}, 401),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        (OWN, 202),
        ({"Sec-Fetch-Site": "same-origin"}, 202),
    ):
        assert client.post("/v1/datasets/synthetic", json=body, headers=headers).status_code == status, (
            headers
        )


def test_a_session_has_the_scopes_of_its_key(client: TestClient, secrets: Secrets) -> None:
    """A session of a key with the scope read can neither write nor list keys."""
    sign_in(client, secrets["read"])
    assert client.post("/v1/datasets/synthetic", json={"queries": 1}, headers=OWN).status_code == 403
    assert client.get("/v1/keys").status_code == 403


def test_a_key_in_the_header_takes_precedence_over_the_cookie(
    client: TestClient, secrets: Secrets, bearer: Bearer
) -> None:
    """A wrong key in the header is refused despite a valid cookie."""
    sign_in(client, secrets["read"])
    assert client.get("/v1/keys", headers=bearer("admin")).status_code == 200
    assert client.get("/v1/jobs", headers=bearer("rk_wrong")).status_code == 401


def test_signing_out_ends_the_session(client: TestClient, secrets: Secrets) -> None:
    """A copied token is refused after the session has ended."""
    sign_in(client, secrets["read"])
    token = client.cookies["rankery_session"]
    answer = client.post("/sign-out", headers=OWN, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert "rankery_session" not in client.cookies
    stolen = client.get("/v1/jobs", headers={"Cookie": f"rankery_session={token}"})
    assert stolen.status_code == 401
    assert stolen.json()["detail"] == "the session has ended; sign in again"


def test_signing_in_again_ends_the_earlier_session(client: TestClient, secrets: Secrets) -> None:
    """A browser has one session; each sign-in creates a new token."""
    sign_in(client, secrets["read"])
    earlier = client.cookies["rankery_session"]
    sign_in(client, secrets["read"])
    assert client.cookies["rankery_session"] != earlier
    client.cookies.clear()
    assert client.get("/v1/jobs", headers={"Cookie": f"rankery_session={earlier}"}).status_code == 401


def test_revoking_the_key_ends_the_session(client: TestClient, secrets: Secrets, bearer: Bearer) -> None:
    """The session ends immediately in the process that revoked the key."""
    key = client.post("/v1/keys", json={"name": "a", "scopes": ["read"]}, headers=bearer("admin")).json()
    sign_in(client, key["secret"])
    assert client.get("/v1/jobs").status_code == 200
    client.delete(f"/v1/keys/{key['id']}", headers=bearer("admin"))
    assert client.get("/v1/jobs").status_code == 401


def test_pages_redirect_to_sign_in_and_api_requests_get_401(client: TestClient, secrets: Secrets) -> None:
    """The form keeps the requested address; /v1 and requests that do not accept HTML answer 401."""
    for path in ("/", "/jobs/job_1", "/datasets/a%2Fb/queries/%C3%A4?x=1&y=%20", "/docs", "/nothing"):
        answer = client.get(path, headers=HTML, follow_redirects=False)
        assert answer.status_code == 303
        page = client.get(answer.headers["location"])
        assert f'name="next" value="{path.replace("&", "&amp;")}"' in page.text
        assert client.get(path, headers={"Accept": "application/json"}).status_code == 401
    assert client.get("/v1/jobs", headers=HTML, follow_redirects=False).status_code == 401


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "http://evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "evil.example",
        "",
        " /",
        "/sign-in?next=/sign-in",
        "/sign-out",
        "//[",
    ],
)
def test_a_foreign_redirect_target_is_replaced(wanted: str) -> None:
    """An address that is no page of the service is replaced by the start page."""
    assert same_site_url(wanted) == "/"


def test_signing_in_redirects_to_no_other_site(client: TestClient, secrets: Secrets) -> None:
    """Neither the form nor the redirect names another site."""
    assert sign_in(client, secrets["read"], "//evil.example").headers["location"] == "/"
    assert 'name="next" value="/"' in client.get("/sign-in", params={"next": "//evil.example"}).text


def test_signing_in_is_skipped_where_no_key_is_needed(client: TestClient) -> None:
    """The page redirects immediately, and no page offers to sign out."""
    answer = client.get("/sign-in?next=/models", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/models")
    assert "Sign out" not in client.get("/").text


def test_only_a_session_can_be_signed_out_of(client: TestClient, secrets: Secrets, bearer: Bearer) -> None:
    """A request with a key in its header has no session to end."""
    assert "Sign out" not in client.get("/", headers=bearer("read")).text
    sign_in(client, secrets["read"])
    assert "Sign out" in client.get("/").text


def test_a_large_form_is_not_read(client: TestClient, secrets: Secrets) -> None:
    """A form that is too large is 413, and one with too many fields is 401."""
    assert client.post("/sign-in", data={"key": "a" * 20_000}).status_code == 413
    assert client.post("/sign-in", content="&".join(f"a{n}=1" for n in range(100))).status_code == 401
