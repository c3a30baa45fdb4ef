"""The service behind nginx and Caddy, with the configuration files in `deploy/`."""

import threading
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

import rankery
from app import ApiSettings, create_app
from app.http.connections import server_options
from core.store import Store
from tests.app.conftest import NO_BROKER
from tests.app.http.conftest import PATIENCE_SECONDS, eventually
from tests.servers.web_proxies import ROOT_PATH, Caddy, Nginx, WebProxy

pytestmark = [pytest.mark.embedded, pytest.mark.long]

NAME, CLIENT = "ltr.example.org", "127.0.0.3"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> ApiSettings:
    """The settings that the example configurations need."""
    return ApiSettings(
        data_dir=tmp_path_factory.mktemp("data"),
        broker_url=NO_BROKER,
        root_path=ROOT_PATH,
        allowed_hosts=NAME,
        trusted_proxies="127.0.0.1",
    )


@pytest.fixture(scope="module")
def api_port(settings: ApiSettings) -> Iterator[int]:
    """The port of the API, which runs behind uvicorn."""
    config = uvicorn.Config(
        create_app(settings), port=0, log_config=None, access_log=False, **server_options(settings)
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    eventually(lambda: server.started)
    yield int(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def secret(settings: ApiSettings, api_port: int) -> str:
    """The secret of an admin's key."""
    store = Store.open(settings)
    with store.begin() as tx:
        _, secret = tx.api_keys.create("admin", ["admin"])
    store.close()
    return secret


@pytest.fixture(scope="module", params=[Nginx, Caddy])
def proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, api_port: int
) -> Iterator[WebProxy]:
    """Each proxy in front of the API."""
    with request.param(tmp_path_factory.mktemp("proxy"), api_port) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: WebProxy, secret: str) -> Iterator[httpx.Client]:
    """A client with the key, which sends requests from another address than the proxy's."""
    with httpx.Client(
        transport=httpx.HTTPTransport(local_address=CLIENT, verify=False),
        base_url=proxy.url,
        headers={"Authorization": f"Bearer {secret}", "Host": NAME},
        timeout=PATIENCE_SECONDS,
    ) as client:
        yield client


def test_the_audit_has_the_address_of_the_client(client: httpx.Client) -> None:
    """The audit ignores an invented address, and holds the path as sent, with encoded slashes."""
    client.delete("/v1/datasets/a%2Fb%20c", headers={"X-Forwarded-For": "203.0.113.9"})
    newest = client.get("/v1/audit", params={"limit": 1}).json()["items"][0]
    assert (newest["address"], newest["path"]) == (CLIENT, "/v1/datasets/a%2Fb%20c")


def test_signing_in_stays_below_the_path_and_on_https(client: httpx.Client, secret: str) -> None:
    """Redirects and the cookie keep the path; the cookie is `Secure`, and HSTS is on."""
    del client.headers["Authorization"]
    page = client.get("/jobs", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["location"]) == (303, f"{ROOT_PATH}/sign-in?next=%2Fjobs")
    form, own = {"key": secret, "next": "/jobs"}, {"Origin": f"https://{NAME}"}
    signed_in = client.post("/sign-in", data=form, headers=own)
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, f"{ROOT_PATH}/jobs")
    cookie = signed_in.headers["set-cookie"].lower()
    assert f"; path={ROOT_PATH};" in cookie
    assert "; secure" in cookie
    assert "strict-transport-security" in signed_in.headers


def test_pages_of_other_sites_are_refused(client: httpx.Client) -> None:
    """The origin is compared with the name that the browser asked for."""
    refused = client.post("/v1/jobs", json={}, headers={"Origin": "https://elsewhere.example"})
    assert refused.json()["type"] == "/problems/foreign-origin"


def test_a_name_that_is_not_allowed_is_refused(client: httpx.Client) -> None:
    """The service refuses the forwarded Host header, or the proxy answers without content."""
    refused = client.get("/v1/jobs", headers={"Host": "127.0.0.1.elsewhere.example"})
    # Caddy has no site of that name.
    assert refused.status_code == 421 or (refused.status_code == 200 and not refused.content)


def test_large_uploads_pass(client: httpx.Client) -> None:
    """The service limits the size of uploads; the default limit of nginx would be 1 MB."""
    line = f"2 qid:1 {' '.join(f'{index}:0.5' for index in range(1, 200))}\n"
    uploaded = client.post("/v1/datasets", files={"train": ("judged.txt", line * 2_000)})
    assert uploaded.status_code == 202
    assert uploaded.headers["location"].startswith(f"{ROOT_PATH}/v1/")


def test_compression_and_etags_pass(client: httpx.Client) -> None:
    """The proxy neither decompresses responses nor drops ETags, which make polling cheap."""
    first = client.get("/v1/losses", headers={"Accept-Encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    again = client.get("/v1/losses", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304


def test_events_are_not_buffered(client: httpx.Client, settings: ApiSettings) -> None:
    """The proxy forwards each message of the stream immediately, also to a client that accepts gzip."""
    headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip"}
    store = Store.open(settings)
    with client.stream("GET", "/v1/events", headers=headers) as answer:
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("event")) == "event: ready"
        with store.begin() as tx:
            tx.events.add("drift.found", "model", "mdl_1", {})
        assert next(line for line in lines if "." in line) == "event: drift.found"
    store.close()


def test_the_path_without_a_trailing_slash_redirects_to_the_first_page(client: httpx.Client) -> None:
    """Users type the path without a trailing slash."""
    typed = client.get(client.base_url.copy_with(path=ROOT_PATH))
    assert (typed.status_code, typed.next_request.url.path) == (308, f"{ROOT_PATH}/")  # type: ignore[union-attr]
    assert client.get("/").status_code == 200


def test_the_library_takes_the_whole_url(api_port: int, secret: str) -> None:
    """The library keeps the path of its URL in all requests."""
    with rankery.Client(f"http://127.0.0.1:{api_port}{ROOT_PATH}", api_key=secret) as library:
        dataset = library.synthetic_dataset(3, name="below the path")
        assert library.dataset(dataset.id).name == "below the path"
