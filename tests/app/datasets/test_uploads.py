"""Complete uploads, and refused uploads, which leave nothing."""

import gzip
import hashlib
import itertools
from typing import Any

import hypothesis
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from app import ApiSettings
from app.http.services import Services, registered
from app.uploads.form import ENVELOPE_BYTES
from app.uploads.multipart import FormParser
from core.store import Store
from tests.app.conftest import MAX_UPLOAD_BYTES, TestClient
from tests.servers.fixtures import stored_datasets

LETOR = b"2 qid:1 1:0.5 2:3.0 # d1\n0 qid:1 1:0.1 2:1.0 # d2\n"
MULTIPART = "multipart/form-data; boundary=XX"


def _part(name: str, content: bytes, filename: str | None = None) -> bytes:
    file = f'; filename="{filename}"' if filename is not None else ""
    head = f'--XX\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
    return head.encode() + content + b"\r\n"


END = b"--XX--\r\n"
RULE = "/non_contiguous_queries"
TWICE = b'{"label": "a", "query": "a"}'
TRAIN = _part("train", LETOR, "train.txt")
FILE = _part("file", LETOR, "train.txt")

# Content-Type, body, status, pointer of the one mistake (None: no errors listed)
BAD_UPLOADS: dict[str, tuple[str, bytes, int, str | None]] = {
    "no Content-Type": ("", FILE + END, 422, ""),
    "JSON without a source": ("application/json", b"{}", 422, "/source"),
    "the bare file": ("text/plain", LETOR, 422, ""),
    "url-encoded form": ("application/x-www-form-urlencoded", b"file=abc", 422, ""),
    "no boundary": ("multipart/form-data", FILE + END, 422, ""),
    "boundary empty": ("multipart/form-data; boundary=", FILE + END, 422, ""),
    "boundary too long": (f"multipart/form-data; boundary={'X' * 71}", FILE + END, 422, ""),
    "boundary of another body": ("multipart/form-data; boundary=YY", FILE + END, 422, ""),
    "no body": (MULTIPART, b"", 422, ""),
    "no parts": (MULTIPART, END, 422, "/file"),
    "no file": (MULTIPART, _part("name", b"mine") + END, 422, "/file"),
    "file empty": (MULTIPART, _part("file", b"", "train.txt") + END, 422, "/file"),
    "file as text": (MULTIPART, _part("file", LETOR) + END, 422, "/file"),
    "two files": (MULTIPART, FILE + FILE + END, 422, "/file"),
    "file under another name": (MULTIPART, _part("data", LETOR, "a.txt") + END, 422, "/data"),
    "unknown field": (MULTIPART, FILE + _part("comment", b"letor") + END, 422, "/comment"),
    "unknown format": (MULTIPART, FILE + _part("format", b"arff") + END, 422, "/format"),
    "unknown rule": (MULTIPART, FILE + _part("non_contiguous_queries", b"x") + END, 422, RULE),
    "columns that are not JSON": (MULTIPART, FILE + _part("columns", b"label=a") + END, 422, "/columns"),
    "columns as a list": (MULTIPART, FILE + _part("columns", b"[]") + END, 422, "/columns"),
    "unknown column role": (MULTIPART, FILE + _part("columns", b'{"rank": "a"}') + END, 422, "/columns/rank"),
    "label not text": (MULTIPART, FILE + _part("columns", b'{"label": 1}') + END, 422, "/columns/label"),
    "one column twice": (MULTIPART, FILE + _part("columns", TWICE) + END, 422, "/columns/query"),
    "names that are not JSON": (
        MULTIPART,
        FILE + _part("feature_names", b"{") + END,
        422,
        "/feature_names",
    ),
    "file and train": (MULTIPART, FILE + _part("train", LETOR, "a") + END, 422, "/file"),
    "query file alone": (MULTIPART, _part("train_query", b"2", "q") + END, 422, "/file"),
    "query file of another part": (
        MULTIPART,
        FILE + _part("test_query", b"2", "q") + END,
        422,
        "/test_query",
    ),
    "query file empty": (MULTIPART, FILE + _part("file_query", b"", "q") + END, 422, "/file_query"),
    "second file empty": (MULTIPART, TRAIN + _part("test", b"", "t") + END, 422, "/test"),
    "together too large": (MULTIPART, TRAIN + _part("test", b"1" * MAX_UPLOAD_BYTES, "t") + END, 413, None),
    "name twice": (MULTIPART, _part("name", b"a") + _part("name", b"b") + FILE + END, 422, "/name"),
    "name empty": (MULTIPART, FILE + _part("name", b"") + END, 422, "/name"),
    "name too long": (MULTIPART, FILE + _part("name", b"n" * 201) + END, 422, "/name"),
    "very long name": (MULTIPART, FILE + _part("name", b"n" * 5000) + END, 422, "/name"),
    "name not UTF-8": (MULTIPART, FILE + _part("name", b"\xff\xfe") + END, 422, "/name"),
    "name with NUL": (MULTIPART, FILE + _part("name", b"a\x00b") + END, 422, "/name"),
    "part without a disposition": (
        MULTIPART,
        b"--XX\r\nContent-Type: text/plain\r\n\r\nx\r\n" + END,
        422,
        "",
    ),
    "part without a name": (
        MULTIPART,
        b"--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n" + END,
        422,
        "",
    ),
    "cut within the file": (MULTIPART, FILE[:-20], 422, ""),
    "cut before the last boundary": (MULTIPART, FILE, 422, ""),
    "cut within the headers": (MULTIPART, FILE[:30], 422, ""),
    "invalid header": (MULTIPART, b"--XX\r\n(\x00): y\r\n\r\nx\r\n" + END, 422, ""),
    "very long header": (MULTIPART, b"--XX\r\nX-A: " + b"a" * 50_000 + b"\r\n\r\nx\r\n" + END, 422, ""),
    "very many parts": (MULTIPART, b"--XX\r\n\r\n\r\n" * 100, 422, ""),
    "file too large": (MULTIPART, _part("file", b"1" * (MAX_UPLOAD_BYTES + 1), "a") + END, 413, None),
    "envelope too large": (MULTIPART, b"\r\n" * ENVELOPE_BYTES + FILE + END, 413, None),
}


@pytest.mark.long
@pytest.mark.parametrize("streamed", [False, True], ids=["declared", "streamed"])
@pytest.mark.parametrize("case", BAD_UPLOADS)
def test_a_bad_upload_leaves_nothing(refusing_client: TestClient, case: str, streamed: bool) -> None:
    """Each mistake is reported at its field, and neither rows nor files remain."""
    content_type, body, status, pointer = BAD_UPLOADS[case]
    content: Any = iter([body[i : i + 1000] for i in range(0, len(body), 1000)]) if streamed else body
    headers = {"Content-Type": content_type}
    response = refusing_client.post("/v1/datasets", content=content, headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    if pointer is None:
        assert problem["type"] == "/problems/too-large"
    else:
        assert problem["type"] == "/problems/invalid-input"
        assert [error["pointer"] for error in problem["errors"]] == [pointer]
    settings = registered(refusing_client.app, Services).settings  # type: ignore[arg-type]
    _assert_nothing_left(refusing_client, settings)


@pytest.mark.parametrize("path", ["/v1/datasets", "/v1/click-logs"])
@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("", "must have at least 1 character"),
        (" ", "must not be blank"),
        ("a\x07", "must not contain control or invisible characters"),
    ],
)
def test_a_wrong_name_of_an_upload_is_explained(
    client: TestClient, path: str, name: str, detail: str
) -> None:
    """The error texts are those of JSON bodies."""
    answer = client.post(path, files={"file": ("a.txt", LETOR)}, data={"name": name})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"pointer": "/name", "detail": detail}]


def test_an_upload_is_kept_byte_for_byte(client: TestClient, store: Store) -> None:
    """The stored file, its size and its checksum equal those of the upload; a job waits to read it."""
    content = gzip.compress(LETOR * 1000)
    response = client.post(
        "/v1/datasets", files={"file": ("train.txt.gz", content)}, data={"name": "web30k fold 1"}
    )
    assert response.status_code == 202
    dataset = response.json()
    assert response.headers["location"] == f"/v1/datasets/{dataset['id']}"
    assert (dataset["name"], dataset["status"]) == ("web30k fold 1", "pending")
    assert dataset["source"] == {
        "kind": "upload",
        "filename": "train.txt.gz",
        "format": "auto",
        "options": {},
    }
    assert dataset["size_bytes"] == len(content)
    assert dataset["sha256"] == hashlib.sha256(content).hexdigest()
    assert store.artifacts.read_bytes(f"datasets/{dataset['id']}/upload") == content
    job = client.get(f"/v1/jobs/{dataset['job_id']}").json()
    assert (job["kind"], job["status"]) == ("ingest", "queued")
    assert job["spec"] == {"dataset_id": dataset["id"], "name": "web30k fold 1"}
    assert [hit["id"] for hit in client.get("/v1/jobs?text=fold 1").json()["items"]] == [job["id"]]


def test_one_upload_may_have_several_parts(client: TestClient, store: Store) -> None:
    """Each part has a separate job and lists the other parts; a query file is stored with its part."""
    files = {
        "test": ("test.txt", b"1 1:0.3\n"),
        "test_query": ("test.txt.query", b"1\n"),
        "train": ("train.txt", LETOR),
    }
    response = client.post("/v1/datasets", files=files, data={"name": "fold 1"})
    assert response.status_code == 202
    train = response.json()
    assert (train["name"], train["source"]["filename"]) == ("fold 1 train", "train.txt")
    assert set(train["parts"]) == {"train", "test"}
    assert train["parts"]["train"] == train["id"]
    test = client.get(f"/v1/datasets/{train['parts']['test']}").json()
    assert (test["name"], test["parts"]) == ("fold 1 test", train["parts"])
    assert test["source"]["query_sizes_filename"] == "test.txt.query"
    assert store.artifacts.read_bytes(f"datasets/{test['id']}/query_sizes") == b"1\n"
    assert len(client.get("/v1/jobs").json()["items"]) == 2


def test_an_upload_cancelled_before_it_was_read_leaves_no_bytes(
    client: TestClient, settings: ApiSettings
) -> None:
    """The dataset stays on record as invalid, and its uploaded bytes are deleted."""
    dataset = client.post("/v1/datasets", files={"file": ("a", LETOR)}).json()
    assert client.post(f"/v1/jobs/{dataset['job_id']}/cancel").json()["status"] == "cancelled"
    assert client.get(f"/v1/datasets/{dataset['id']}").json()["status"] == "invalid"
    assert stored_datasets(settings.storage_url) == set()


def test_reading_options_are_stored_with_the_dataset(client: TestClient) -> None:
    """Options are stored whatever the order of the parts; JSON may be sent as a file."""
    body = (
        FILE
        + _part("columns", b'{"label": "grade", "ignore": ["title"]}')
        + _part("feature_names", b'{"1": "bm25"}', "names.json")
        + _part("format", b"csv")
        + END
    )
    response = client.post("/v1/datasets", content=body, headers={"Content-Type": MULTIPART})
    assert response.status_code == 202
    source = response.json()["source"]
    assert source["format"] == "csv"
    assert source["options"] == {
        "columns": {"label": "grade", "ignore": ["title"]},
        "feature_names": {"1": "bm25"},
    }


def test_a_repeated_upload_with_a_key_is_one_upload(client: TestClient, settings: ApiSettings) -> None:
    """The second answer equals the first and stores nothing; other files with the key are refused."""
    key = {"Idempotency-Key": "k1"}
    files = {"train": ("a", LETOR), "test": ("b", LETOR)}
    first, second = (client.post("/v1/datasets", files=files, headers=key).json() for _ in range(2))
    assert first == second
    other = client.post("/v1/datasets", files={**files, "test": ("b", LETOR * 2)}, headers=key)
    assert other.status_code == 422
    assert len(stored_datasets(settings.storage_url)) == 2


def test_a_file_of_the_largest_size_is_accepted(client: TestClient) -> None:
    """The limit applies to the files, not to the form around them."""
    response = client.post("/v1/datasets", files={"file": ("a", b"1" * MAX_UPLOAD_BYTES)})
    assert response.status_code == 202
    assert response.json()["size_bytes"] == MAX_UPLOAD_BYTES


def test_a_declared_size_over_the_limit_is_refused(client: TestClient) -> None:
    """The Content-Length alone is enough; the body is not read."""
    headers = {"Content-Type": MULTIPART, "Content-Length": str(MAX_UPLOAD_BYTES + ENVELOPE_BYTES + 1)}

    def unread() -> Any:
        raise AssertionError("the body was read")
        yield b""

    request = client.build_request("POST", "/v1/datasets", headers=headers, content=unread())
    assert client.send(request).status_code == 413


@pytest.mark.parametrize(
    ("filename", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\train.txt", "train.txt"),
        ("jugé.txt", "jugé.txt"),
        ("a\tb.txt", "ab.txt"),
        ("", "upload"),
        ("x" * 300 + ".txt", "x" * 251 + ".txt"),
        ("the %22best%22 50%.txt", 'the "best" 50%.txt'),
    ],
)
def test_a_filename_is_only_a_label(client: TestClient, filename: str, kept: str) -> None:
    """Folders, control characters and excess length are removed from the file name."""
    body = _part("file", LETOR, filename) + _part("name", b"mine") + END
    response = client.post("/v1/datasets", content=body, headers={"Content-Type": MULTIPART})
    assert response.status_code == 202
    assert response.json()["source"]["filename"] == kept


@pytest.mark.parametrize(
    "parameters",
    [
        """filename="=?utf-8?B?anVnw6kudHh0?="; filename*=utf-8''jug%C3%A9.txt""",
        """filename*=UTF-8''jug%C3%A9.txt""",
        """filename*="iso-8859-1'fr'jug%E9.txt"; size=3""",
    ],
)
def test_an_extended_filename_is_decoded(client: TestClient, parameters: str) -> None:
    """HttpClient of .NET sends names beyond ASCII in this way, others only so."""
    body = _part("file", LETOR, "plain.txt").replace(b'filename="plain.txt"', parameters.encode())
    response = client.post("/v1/datasets", content=body + END, headers={"Content-Type": MULTIPART})
    assert response.json()["name"] == "jugé.txt"


def test_a_quoted_filename_is_not_parsed(client: TestClient) -> None:
    """A name may have the syntax of a parameter."""
    name = "a; filename*=utf-8''b.txt"
    assert client.post("/v1/datasets", files={"file": (name, LETOR)}).json()["name"] == name


def test_the_name_defaults_to_the_filename(client: TestClient) -> None:
    """A dataset without a given name has the name of its file, of a long one the end."""
    assert client.post("/v1/datasets", files={"file": ("fold1.txt", LETOR)}).json()["name"] == "fold1.txt"
    long = client.post("/v1/datasets", files={"file": ("x" * 230 + ".txt", LETOR)})
    assert (long.status_code, long.json()["name"]) == (202, "x" * 176 + ".txt")


def test_an_aborted_upload_leaves_nothing(
    application: FastAPI, client: TestClient, settings: ApiSettings
) -> None:
    """A connection that breaks within the file creates neither a dataset nor a file."""
    messages = iter(
        [
            {"type": "http.request", "body": FILE[:-10], "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent: list[Any] = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "method": "POST",
        "path": "/v1/datasets",
        "raw_path": b"/v1/datasets",
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", MULTIPART.encode())],
        "server": ("127.0.0.1", 80),
        "client": ("testclient", 1),
    }
    assert client.portal is not None
    client.portal.call(application, scope, receive, send)
    assert sent == []
    _assert_nothing_left(client, settings)


@hypothesis.settings(deadline=None)  # the machine may be busy, and the test measures no time
@given(
    content=st.binary(max_size=300).map(lambda b: b.replace(b"\r\n--XX", b"")),
    cuts=st.lists(st.integers(0, 500), max_size=8),
)
def test_a_body_in_any_pieces_gives_the_same_file(content: bytes, cuts: list[int]) -> None:
    """The parser may be fed a body in any pieces, even through the middle of a boundary."""
    body = _part("name", b"n") + _part("file", content, "a") + END
    sink = _Sink()
    parser = FormParser(MULTIPART, ("file",), {"name": 10}, sink)
    edges = [0, *sorted(cut for cut in cuts if cut < len(body)), len(body)]
    for start, stop in itertools.pairwise(edges):
        parser.feed(body[start:stop])
    parser.finish()
    assert sink.files == {("file", "a"): content}
    assert parser.fields == {"name": "n"}


class _Sink:
    """A receiver that keeps the files of an upload in memory."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}

    def begin(self, field: str, filename: str) -> None:
        """Start another file."""
        self.files[field, filename] = b""

    def take(self, piece: bytes) -> None:
        """Append to the file that was begun last."""
        self.files[next(reversed(self.files))] += piece

    def add_upload(self, field: str, upload_id: str) -> None:
        """Fail: no body of these tests refers to a finished upload."""
        raise AssertionError((field, upload_id))


def _assert_nothing_left(client: TestClient, settings: ApiSettings) -> None:
    assert client.get("/v1/datasets").json()["items"] == []
    assert client.get("/v1/jobs").json()["items"] == []
    assert stored_datasets(settings.storage_url) == set()
