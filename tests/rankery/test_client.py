"""The client, with a mocked HTTP server."""

import asyncio
import gc
import json
import multiprocessing
import os
import threading
import weakref
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from rankery.client import AsyncClient, Client
from rankery.errors import (
    AnswerNotUnderstood,
    ClientClosed,
    DataWarning,
    InvalidSettings,
    JobFailed,
    JobRefused,
    KeyRefused,
    RankeryApiError,
    ServiceUnreachable,
    WrongType,
)
from tests.rankery.answers import dataset_document, job_document

MODEL = {"id": "mdl_1", "name": "web", "version": 1}

Answer = Callable[[httpx.Request], httpx.Response]


def client_of(answer: Answer) -> Client:
    """Return a client whose requests are answered by a function."""
    return Client("http://rankery.test", transport=httpx.MockTransport(answer), retries=0)


def statuses(*words: str, **more: Any) -> Answer:
    """Return an answer function for a job that has these statuses, one after another."""
    left = list(words)

    def answer(_: httpx.Request) -> httpx.Response:
        status = left.pop(0) if len(left) > 1 else left[0]
        return httpx.Response(200, json=job_document(status=status, **more))

    return answer


def test_a_problem_becomes_one_sentence_with_every_place() -> None:
    """The error message has the service's detail and every place with its reason."""
    problem = {
        "title": "Invalid request",
        "status": 422,
        "detail": "The request is not valid.",
        "errors": [{"pointer": "/loss/mu", "detail": "must be at least 0"}],
    }
    client = client_of(lambda _: httpx.Response(422, json=problem))
    with client, pytest.raises(RankeryApiError) as refused:
        client.submit({"kind": "train"})
    assert refused.value.status == 422
    assert refused.value.problem == problem
    assert str(refused.value) == "The request is not valid (/loss/mu: must be at least 0)"


def test_jobs_to_wait_for_may_come_from_a_generator() -> None:
    """Waiting returns each job of a generator in its final state; ids are refused."""
    client = client_of(statuses("queued", "running", "succeeded"))
    ended = client.wait_all(client.job(job_id) for job_id in ["job_1"])
    assert [job.status for job in ended] == ["succeeded"]
    ids: Any = ["job_1"]
    with pytest.raises(WrongType, match=r"a job of the client is expected here, not 'job_1' \(str\)"):
        client.wait_all(ids)


def test_a_deletion_is_sent_again_until_nothing_is_deleted() -> None:
    """The client sums what its requests deleted, and sends a dry run once."""
    sent: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        sent.append(body)
        deleted = {"jobs": 2} if len(sent) < 3 or body["dry_run"] else {}
        document = {
            "dry_run": body["dry_run"],
            "deleted": deleted,
            "size_bytes": 10,
            "purge_at": None,
            "missing": [],
            "refused": [],
            "refused_count": 0,
            "complete": False,
        }
        assert request.extensions["timeout"]["read"] > 60.0  # the service works on a request for a minute
        return httpx.Response(200, json=document)

    with client_of(answer) as client:
        assert client.delete("jobs", where={"all": True}, dry_run=False).deleted == {"jobs": 4}
        assert len(sent) == 3
        assert not client.delete("jobs", where={"all": True}).complete
    assert len(sent) == 4


def test_an_answer_without_a_problem_document_is_an_error() -> None:
    """A proxy may answer with any body, so the client raises an error without a problem document."""
    client = client_of(lambda _: httpx.Response(502, text="<html>"))
    with client, pytest.raises(RankeryApiError, match="502 Bad Gateway"):
        client.job("job_1")


def test_a_redirect_is_an_error_that_names_its_target(tmp_path: Path) -> None:
    """A server that redirects has executed nothing: no object is deleted, and no file is written."""
    target, file = "https://rankery.test/rankery", tmp_path / "model.txt"
    with client_of(lambda _: httpx.Response(308, headers={"Location": target}, text="Moved")) as client:
        for call in (
            lambda: client.delete_dataset("ds_1"),
            lambda: client.export("web", "lightgbm", file),
            lambda: next(iter(client.events())),
        ):
            with pytest.raises(AnswerNotUnderstood, match=f"redirects to {target}"):
                call()
    assert not list(tmp_path.iterdir())


def test_a_page_instead_of_an_answer_is_an_error(tmp_path: Path) -> None:
    """A proxy may answer with its page to sign in, with the status of a success."""
    file = tmp_path / "model.txt"
    with client_of(lambda _: httpx.Response(200, html="<html>Sign in</html>")) as client:
        for call in (
            lambda: client.job("job_1"),
            lambda: client.delete_dataset("ds_1"),
            lambda: client.export("web", "lightgbm", file),
            lambda: client.request("GET", "/v1/projects"),
            lambda: next(iter(client.events())),
        ):
            with pytest.raises(AnswerNotUnderstood, match=r"rankery\.test/v1.* answers with a page"):
                call()
    assert not list(tmp_path.iterdir())


class _Counting(BaseHTTPRequestHandler):
    """Answers with a kept-open connection, and records the client's port of each request."""

    protocol_version = "HTTP/1.1"
    ports: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        self.ports.append(self.client_address[1])
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


def test_a_forked_process_has_its_own_connections() -> None:
    """On the connections of its parent, each process would get responses to requests of the other."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Counting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Client(f"http://127.0.0.1:{server.server_port}") as client:

        def request() -> None:
            client.transport.get("/v1/jobs")

        request()
        child = multiprocessing.get_context("fork").Process(target=request)
        child.start()
        child.join()
        request()
    server.shutdown()
    server.server_close()
    first, of_child, last = _Counting.ports
    assert child.exitcode == 0
    assert first == last != of_child


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_an_asynchronous_client_works_in_several_event_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection of an ended event loop is unusable, so each loop opens its own; ended ones are freed."""
    monkeypatch.setattr(_Counting, "ports", [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Counting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = AsyncClient(f"http://127.0.0.1:{server.server_port}")

    loops: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()

    async def request_twice(client: AsyncClient) -> None:
        loops.add(asyncio.get_running_loop())
        await client.transport.get("/v1/jobs")
        await client.transport.get("/v1/jobs")

    asyncio.run(request_twice(client))
    asyncio.run(request_twice(client))
    gc.collect()
    assert len(loops) == 1
    asyncio.run(client.close())
    del client
    gc.collect()  # the connections of the ended loops, with a warning
    server.shutdown()
    server.server_close()
    first, second, third, fourth = _Counting.ports
    assert first == second != third == fourth


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_an_asynchronous_client_works_in_two_event_loops_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of two running loops keeps its connection; a loop that closes the client closes it for both."""
    monkeypatch.setattr(_Counting, "ports", [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Counting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = AsyncClient(f"http://127.0.0.1:{server.server_port}")
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    for loop in (first, second, first, second):
        loop.run_until_complete(client.transport.get("/v1/jobs"))
    assert _Counting.ports[:2] == _Counting.ports[2:]
    assert len(set(_Counting.ports)) == 2
    first.run_until_complete(client.close())
    with pytest.raises(ClientClosed):
        second.run_until_complete(client.transport.get("/v1/jobs"))
    first.close()
    second.close()
    del client
    gc.collect()  # the connection of the second loop, with a warning
    server.shutdown()
    server.server_close()


def test_an_event_may_hold_any_line_separator() -> None:
    """Only line feeds end the lines of a stream; JSON leaves other separators within texts as they are."""
    title = "a\u2028b\u0085c"
    event = {"id": 1, "kind": "job.ended", "at": "2026-01-05T10:00:00Z", "project": None, "key_id": None}
    event |= {"object": {"kind": "job", "id": "job_1"}, "data": {"title": title}}
    text = f"id: 1\nevent: job.ended\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
    with client_of(lambda _: httpx.Response(200, text=text)) as client:
        assert next(iter(client.events())).data["title"] == title


def test_an_unreachable_service_is_named() -> None:
    """The error has the URL of the service."""
    with (
        Client("http://127.0.0.1:1", retries=0) as client,
        pytest.raises(ServiceUnreachable, match=r"127\.0\.0\.1:1"),
    ):
        client.job("job_1")


def test_a_query_string_in_the_path_is_kept() -> None:
    """Parameters are added to the path's query string, and replace parameters of the same name."""
    paths: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"items": []})

    with client_of(answer) as client:
        client.request("GET", "/v1/evaluations?limit=1")
        client.request(
            "GET", "/v1/evaluations?limit=1&model=a%26b", parameters={"cursor": "x", "model": None}
        )
        client.request("GET", "/v1/evaluations?limit=1", parameters={"limit": 2})
    assert paths == [
        "/v1/evaluations?limit=1",
        "/v1/evaluations?limit=1&model=a%26b&cursor=x",
        "/v1/evaluations?limit=2",
    ]


def test_a_model_name_is_escaped_in_the_path_of_its_aliases() -> None:
    """A name cannot select another path or add a query string."""
    paths: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"items": []})

    with client_of(answer) as client:
        client.aliases("a/b?c")
    assert paths == ["/v1/models/a%2Fb%3Fc/aliases"]


def test_waiting_shows_every_state_and_returns_the_last() -> None:
    """Every poll reports progress, including the last."""
    seen: list[str] = []
    with client_of(statuses("queued", "running", "succeeded")) as client:
        job = client.job("job_1")
        assert job.wait(lambda job: seen.append(job.status), interval_seconds=0) is job
    assert seen == ["running", "succeeded"]
    assert job.status == "succeeded"


def test_waiting_for_a_job_that_fails_raises_its_problem() -> None:
    """The error has the kind and id of the job, and the detail of its problem."""
    problem = {"title": "Dataset cannot be read", "detail": "line 3: expected a number"}
    client = client_of(statuses("running", "failed", problem=problem))
    with client, pytest.raises(JobFailed, match=r"the train job job_1 failed: line 3: expected a number"):
        client.job("job_1").wait(interval_seconds=0)


def test_waiting_for_a_refused_job_raises_its_refusal() -> None:
    """A refusal by a gate raises another error than a failure."""
    problem = {"title": "Promotion refused", "detail": "web:2 is worse than web:1"}
    client = client_of(statuses("running", "refused", problem=problem))
    with client, pytest.raises(JobRefused, match=r"the train job job_1 refused: web:2 is worse than web:1"):
        client.job("job_1").wait(interval_seconds=0)


def test_waiting_ends_at_its_limit() -> None:
    """A timeout ends the wait for a job that is still running."""
    with client_of(statuses("running")) as client, pytest.raises(TimeoutError, match="still running"):
        client.job("job_1").wait(timeout_seconds=0.05, interval_seconds=0.01)


def test_data_whose_job_was_deleted_are_not_waited_for() -> None:
    """A dataset that was read long ago is ready, also after the retention of jobs."""
    document = dataset_document(status="ready")

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.startswith("/v1/jobs/"):
            return httpx.Response(404, json={"title": "Not found", "detail": "there is no job 'job_1'"})
        return httpx.Response(200, json=document)

    with client_of(answer) as client:
        dataset = client.dataset("ds_1")
        assert dataset.job() is None
        assert dataset.wait().status == "ready"


def test_a_model_in_memory_is_sent_with_any_name() -> None:
    """The service judges the name; no file of this machine has it."""
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.read())
        return httpx.Response(202, json=job_document())

    name = "../" + "web" * 100
    with client_of(answer) as client:
        client.import_model("tree\n", name)
    assert f'name="name"\r\n\r\n{name}'.encode() in bodies[0]


@pytest.mark.parametrize(("name", "sent"), [("train.txt", "train.txt"), (os.fsdecode(b"\xff.txt"), "?.txt")])
def test_a_file_is_uploaded_with_its_name(tmp_path: Path, name: str, sent: str) -> None:
    """The service gets the file's name for its errors; a name may be bytes that are not UTF-8."""
    path = tmp_path / name
    path.write_text("1 qid:1 1:2\n")
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.read())
        return httpx.Response(202, json=dataset_document(name="mine"))

    with client_of(answer) as client:
        assert client.upload_dataset(path, name="mine").name == "mine"
    assert f'name="file"; filename="{sent}"'.encode() in bodies[0]
    assert b"1 qid:1 1:2\n" in bodies[0]
    assert b'name="name"\r\n\r\nmine' in bodies[0]


def test_weights_beside_a_file_are_ignored_with_a_warning(tmp_path: Path) -> None:
    """A file that LightGBM reads beside the data, and the service does not, is named with a remedy."""
    for name in ("train.txt", "train.txt.weight"):
        (tmp_path / name).write_text("1 qid:1 1:2\n")
    sentence = r"train.txt.weight is ignored: .* column `document_weight`"
    answered = client_of(lambda _: httpx.Response(202, json=dataset_document()))
    with answered as client, pytest.warns(DataWarning, match=sentence):
        client.upload_dataset(tmp_path / "train.txt")


def test_a_dictionary_names_the_runs_of_a_comparison(tmp_path: Path) -> None:
    """Files of the same name in two folders get the names that the caller gives them."""
    uploads: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/rankings":
            uploads.append(request.read())
        return httpx.Response(200, json=job_document(status="succeeded", result={"ranking_id": "rnk_1"}))

    paths = {name: tmp_path / name / "test.run" for name in ("bm25", "ours")}
    for path in paths.values():
        path.parent.mkdir()
        path.write_text("q Q0 d 1 0.5 tag\n")
    with client_of(answer) as client:
        client.compare("ds_1", paths)
        client.compare("ds_1", list(paths.values()))
    assert [b'name="name"' in body for body in uploads] == [True, True, False, False]
    assert [f'name="name"\r\n\r\n{name}'.encode() in uploads[index] for index, name in enumerate(paths)] == [
        True
    ] * 2


def test_ranking_sends_the_queries_and_the_limit() -> None:
    """`top_k` is sent only if it is given."""
    bodies: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append((request.url.path, json.loads(request.read())))
        return httpx.Response(200, json={"model": MODEL, "queries": []})

    queries = [{"id": "q", "documents": []}]
    with client_of(answer) as client:
        client.rank("web@champion", queries)
        client.rank("web@champion", queries, top_k=3)
    assert bodies == [
        ("/v1/models/web@champion/rank", {"queries": queries}),
        ("/v1/models/web@champion/rank", {"queries": queries, "top_k": 3}),
    ]


def test_the_key_is_sent_with_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is the argument or RANKERY_API_KEY, and an empty key is not sent."""
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("authorization"))
        return httpx.Response(200, json=job_document())

    transport = httpx.MockTransport(answer)
    monkeypatch.setenv("RANKERY_API_KEY", " rk_environment\n")
    for api_key in ("rk_given", None, ""):
        with Client("http://rankery.test", transport=transport, api_key=api_key) as client:
            client.job("job_1")
    assert sent == ["Bearer rk_given", "Bearer rk_environment", None]


def test_a_key_that_cannot_be_sent_is_refused_by_the_client() -> None:
    """A key with extra characters would raise an unclear error of the connection."""
    for wrong in ("rk_a b", "rk_a\r\nX: y", "rk_ä"):
        with pytest.raises(InvalidSettings, match="give the whole secret"):
            Client("http://rankery.test", api_key=wrong)


def test_a_blank_url_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blank argument does not mean another service: neither that of RANKERY_URL nor the default."""
    monkeypatch.setenv("RANKERY_URL", "http://rankery.test")
    with pytest.raises(InvalidSettings, match="'  ' is not the URL of a service"):
        Client("  ")


def test_a_refused_key_names_a_remedy() -> None:
    """Without a key, the error names the variable; with one, it has the service's reason."""
    problem = {"title": "An API key is required", "status": 401, "detail": "the API key is unknown"}
    transport = httpx.MockTransport(lambda _: httpx.Response(401, json=problem))
    for api_key, sentence in (
        ("", "set RANKERY_API_KEY"),
        ("rk_a", "did not accept the API key: the API key is"),
    ):
        client = Client("http://rankery.test", transport=transport, api_key=api_key)
        with client, pytest.raises(KeyRefused, match=sentence):
            client.job("job_1")


def _candidate(number: int, name: str, status: str, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "number": number,
        "name": name,
        "loss": {"name": "lambdarank"},
        "scorer": {"kind": "trees"},
        "status": status,
        "value": value,
        "folds": 0 if value is None else 2,
        "planned_folds": 10,
        "seconds": 1.5,
        "weight": 0.0,
    } | more


def test_the_best_model_is_requested_by_its_data_and_name() -> None:
    """The request omits options that are not given, so the service uses its defaults."""
    sent: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(202, json=job_document(kind="auto-train"))

    with client_of(answer) as client:
        job = client.train_best("web", "ds_1")
        client.train_best("web", "ds_1", test="ds_2", budget_seconds=600, prefer="best", project="shop")
    least = {"kind": "auto-train", "model_name": "web", "dataset_id": "ds_1"}
    more = {"test_dataset_id": "ds_2", "budget_seconds": 600, "prefer": "best", "project": "shop"}
    assert sent == [least, least | more]
    assert job.conclusion is None


def test_the_best_of_a_grid_is_that_of_the_metric_in_any_spelling() -> None:
    """A cost such as `arp` is minimised, and values are found by the metric name of the service."""
    described = [{"name": "ndcg", "higher_is_better": True}, {"name": "arp", "higher_is_better": False}]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/metrics":
            return httpx.Response(200, json={"items": described})
        metric = {"nDCG@5": "ndcg@5", "arp": "arp"}[json.loads(request.content)["jobs"][0]["metrics"][0]]
        jobs = [
            job_document(
                id=f"job_{value}", spec={"metrics": [metric]}, metrics={"validation": {metric: value}}
            )
            for value in (0.1, 0.3)
        ]
        return httpx.Response(202, json={"jobs": jobs})

    points = {"num_leaves": [7, 15]}
    with client_of(answer) as client:
        best = [client.grid("web", "ds_1", points, metrics=[name]).best.id for name in ("nDCG@5", "arp")]
    assert best == ["job_0.3", "job_0.1"]


def test_a_grid_queues_nothing_if_its_metrics_are_unknown() -> None:
    """All other requests come first, since an error after the submission would hide the queued jobs."""
    paths: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.path)
        return httpx.Response(500, json={"title": "Internal error"})

    with client_of(answer) as client, pytest.raises(RankeryApiError, match="Internal error"):
        client.grid("web", "ds_1", {"num_leaves": [7, 15]})
    assert paths == ["/v1/metrics"]


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_a_leaderboard_has_the_best_first(higher_is_better: bool) -> None:
    """The best comes first, then candidates that ended early with fewer queries, then the others in order."""
    sign = 1 if higher_is_better else -1
    items = [
        _candidate(0, "net", "not-tried", None, reason="the time budget was used up"),
        _candidate(1, "trees", "complete", sign * 0.4, tied_with_best=True),
        _candidate(2, "stumps", "stopped", sign * 0.9),
        _candidate(3, "linear", "complete", sign * 0.5, interval=[0.45, 0.55], weight=1.0),
        _candidate(4, "deep trees", "queued", None),
    ]
    shown = {"metric": "ndcg@10", "higher_is_better": higher_is_better, "items": items, "conclusion": None}

    def answer(request: httpx.Request) -> httpx.Response:
        is_job = not request.url.path.endswith("/candidates")
        return httpx.Response(200, json=job_document(kind="auto-train") if is_job else shown)

    with client_of(answer) as client:
        rows = client.job("job_1").leaderboard()
    assert [row.name for row in rows] == ["linear", "trees", "stumps", "net", "deep trees"]
    assert [row.words for row in rows[1:4:2]] == [
        "complete, tied with the best",
        "not-tried: the time budget was used up",
    ]


def test_listed_jobs_are_folded_on_request() -> None:
    """The service leaves out candidates and trials only if `folded` is given."""
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.params.get("folded"))
        return httpx.Response(200, json={"items": [], "next_cursor": None})

    with client_of(answer) as client:
        assert [*client.jobs(folded=True), *client.jobs()] == []
    assert seen == ["true", None]


def test_a_job_has_its_conclusion() -> None:
    """The conclusion of a succeeded automatic training comes from its result."""
    conclusion = {
        "sentence": "Trees have ndcg@10 0.45 on 300 held-out queries.",
        "value": 0.45,
        "interval": [0.43, 0.47],
        "data": "held-out",
        "members": [{"name": "trees", "weight": 1.0}],
        "baselines": [],
        "seconds": {"trials": 240.1},
    }
    ended = statuses("succeeded", kind="auto-train", result={"model_id": "mdl_1", "conclusion": conclusion})
    with client_of(ended) as client:
        parsed = client.job("job_1").conclusion
    assert parsed is not None
    assert (parsed.sentence, parsed.members[0].weight) == (conclusion["sentence"], 1.0)
