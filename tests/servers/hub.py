"""Servers with the operations of Hugging Face Hub and Google Cloud Storage that reading files requires."""

import contextlib
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_TIME = "2026-05-01T12:00:00.000Z"


class FileServer:
    """A server of files by their paths, at an address of this machine.

    Attributes:
        files: Content by path: `org/name/train.csv` of the Hub, `bucket/train.csv` of the storage.
        requests: Path and headers of each request.
        token: The token that every request must send, None for none.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.token: str | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "FileServer":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, query: dict[str, list[str]]) -> Any:
        """Return the JSON of an answer, the bytes of a file, or None for 404."""
        raise NotImplementedError

    def not_found(self, path: str) -> str:
        """Return the value of `X-Error-Code` in a response with the status 404."""
        return "EntryNotFound"

    def _handler(self) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one class
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *arguments: object) -> None:
                """Log nothing."""

            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.requests.append((self.path, headers))
                parts = urlsplit(self.path)
                if server.token and headers.get("authorization") != f"Bearer {server.token}":
                    self._send(401, b"{}")
                    return
                answer = server.answer(unquote(parts.path), parse_qs(parts.query))
                if answer is None:
                    self._send(404, b"{}", {"X-Error-Code": server.not_found(parts.path)})
                elif isinstance(answer, bytes):
                    self._send_file(answer, headers.get("range"))
                else:
                    self._send(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

            def do_HEAD(self) -> None:
                self.do_GET()

            def _send_file(self, content: bytes, requested_range: str | None) -> None:
                span = re.fullmatch(r"bytes=(\d+)-(\d*)", requested_range or "")
                if span is None:
                    self._send(200, content)
                    return
                first, last = int(span[1]), min(int(span[2] or len(content)), len(content) - 1)
                span_header = {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
                self._send(206, content[first : last + 1], span_header)

            def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    with contextlib.suppress(OSError):  # gcsfs cancels requests that it no longer needs
                        self.wfile.write(content)

        return Handler


class HubServer(FileServer):
    """A Hugging Face Hub; set HF_ENDPOINT to its `url`. Every revision has the same files."""

    def answer(self, path: str, query: dict[str, list[str]]) -> Any:
        """Answer about a repository, a folder or a file."""
        if match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(/revision/.+)?", path):
            known = any(name.startswith(f"{match[1]}/") for name in self.files)
            return {"id": match[1], "sha": "0" * 40, "siblings": []} if known else None
        if match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/tree/([^/]+)/?(.*)", path):
            return self._tree(match[1], match[3])
        if match := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self.files.get(f"{match[1]}/{match[3]}")
        return None

    def not_found(self, path: str) -> str:
        """Return the value of `X-Error-Code` in a response with the status 404."""
        return "EntryNotFound" if "/tree/" in path or "/resolve/" in path else "RepoNotFound"

    def _tree(self, repository: str, folder: str) -> list[dict[str, Any]] | None:
        prefix = f"{repository}/{folder}".rstrip("/") + "/"
        below = {name.removeprefix(prefix): name for name in self.files if name.startswith(prefix)}
        entries: dict[str, dict[str, Any]] = {}
        for short, name in below.items():
            first, slash, _ = short.partition("/")
            path = name.removeprefix(f"{repository}/").removesuffix(short) + first
            content = self.files[name]
            oid = hashlib.sha1(content, usedforsecurity=False).hexdigest()
            entries[first] = (
                {"type": "directory", "oid": oid, "size": 0, "path": path}
                if slash
                else {"type": "file", "oid": oid, "size": len(content), "path": path}
            )
        return list(entries.values()) or None


class CloudStorageServer(FileServer):
    """The JSON API of Google Cloud Storage; set the `endpoint_url` of gcsfs to its `url`."""

    def answer(self, path: str, query: dict[str, list[str]]) -> Any:
        """Answer about a bucket, an object or its bytes."""
        if match := re.fullmatch(r"/(?:download/)?storage/v1/b/([^/]+)/o/(.+)", path):
            name = f"{match[1]}/{match[2]}"
            if name not in self.files:
                return None
            return self.files[name] if query.get("alt") == ["media"] else self._about(match[1], match[2])
        if match := re.fullmatch(r"/storage/v1/b/([^/]+)/o/?", path):
            prefix = query.get("prefix", [""])[0]
            bucket = f"{match[1]}/"
            names = [name.removeprefix(bucket) for name in self.files if name.startswith(bucket)]
            items = [self._about(match[1], name) for name in names if name.startswith(prefix)]
            return {"kind": "storage#objects", "items": items}
        return None

    def _about(self, bucket: str, name: str) -> dict[str, Any]:
        content = self.files[f"{bucket}/{name}"]
        generation = str(int(hashlib.sha256(content).hexdigest()[:12], 16))
        return {
            "kind": "storage#object",
            "bucket": bucket,
            "name": name,
            "size": str(len(content)),
            "generation": generation,
            "etag": generation,
            "updated": _TIME,
            "timeCreated": _TIME,
            "contentType": "text/plain",
            "storageClass": "STANDARD",
        }
