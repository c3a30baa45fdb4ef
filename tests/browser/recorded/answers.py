"""Recordings of the API: requests that the pages of each test send, and the answers of a service."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("answers.json")
HOW_TO_RECORD = "record again, for minutes: python -m tests.browser.recorded"


@dataclass(frozen=True)
class Answer:
    """A recorded answer of a service.

    Attributes:
        method: Method of the request.
        target: Path of the request, with the query string.
        status: HTTP status.
        media_type: Media type of the body.
        body: JSON value, or text of another media type.
        disposition: Content-Disposition; empty if the answer has none.
    """

    method: str
    target: str
    status: int
    media_type: str
    body: Any
    disposition: str = ""

    @property
    def is_json(self) -> bool:
        """Whether the body is JSON."""
        return self.media_type.endswith("json")

    def line(self) -> str:
        """Return the answer as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))


def key_of(method: str, target: str, body: bytes) -> str:
    """Return the key of a request; requests with different bodies have different keys."""
    return f"{method} {target}" + (f" {hashlib.sha256(body).hexdigest()[:12]}" if body else "")


@dataclass
class Recording:
    """The answers recorded for the tests of one module.

    Attributes:
        made: Ids of the objects that were created for the tests, by name.
        tests: Answers by test and by request; a repeated request has only its last answer.
    """

    made: dict[str, str] = field(default_factory=dict)
    tests: dict[str, dict[str, Answer]] = field(default_factory=dict)

    def answers(self) -> Iterable[Answer]:
        """Yield the answers of all tests."""
        for by_request in self.tests.values():
            yield from by_request.values()


def load() -> dict[str, Recording]:
    """Return the recording of each test module."""
    if not FILE.is_file():
        return {}
    content = json.loads(FILE.read_text())
    answers = [Answer(**answer) for answer in content["answers"]]
    return {
        module: Recording(
            recorded["made"],
            {
                test: {key: answers[index] for key, index in by_request.items()}
                for test, by_request in recorded["tests"].items()
            },
        )
        for module, recorded in content["modules"].items()
    }


def save(recordings: dict[str, Recording]) -> None:
    """Write each different answer once, on a separate line."""
    positions: dict[str, int] = {}
    for _, recording in sorted(recordings.items()):
        for answer in recording.answers():
            positions.setdefault(answer.line(), len(positions))
    modules = {
        module: {
            "made": recording.made,
            "tests": {
                test: {key: positions[answer.line()] for key, answer in sorted(by_request.items())}
                for test, by_request in sorted(recording.tests.items())
            },
        }
        for module, recording in sorted(recordings.items())
    }
    lines = ",\n".join(positions)
    FILE.write_text(f'{{"modules": {json.dumps(modules, indent=1)},\n"answers": [\n{lines}\n]}}\n')
