"""Answers of the API on record: what the pages of each test asked for, and what a service answered."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parent / "recordings"
AGAIN = "record them again by: python -m tests.browser.recorded"


@dataclass(frozen=True)
class Answer:
    """What a service answered.

    Attributes:
        method: Of the request.
        target: Its path, with the query string.
        status: HTTP status.
        media_type: Of the body.
        body: JSON as it is, anything else as text.
        disposition: Content-Disposition, empty where there is none.
    """

    method: str
    target: str
    status: int
    media_type: str
    body: Any
    disposition: str = ""


def key_of(method: str, target: str, body: bytes) -> str:
    """Return what identifies a request: a changed body of a form is another request."""
    return f"{method} {target}" + (f" {hashlib.sha256(body).hexdigest()[:12]}" if body else "")


@dataclass
class Recording:
    """The answers to the tests of one module.

    Attributes:
        module: Its name.
        made: The ids of what was made for the tests, by name.
        tests: The answers by request, by test. The last answer to a request stays.
    """

    module: str
    made: dict[str, str] = field(default_factory=dict)
    tests: dict[str, dict[str, Answer]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file of the recording."""
        return RECORDINGS / f"{self.module}.json"

    @classmethod
    def load(cls, module: str) -> "Recording":
        """Read a recording; an empty one where there is none."""
        recording = cls(module)
        if recording.path.is_file():
            content = json.loads(recording.path.read_text())
            answers = [Answer(**answer) for answer in content["answers"]]
            recording.made = content["made"]
            recording.tests = {
                test: {key: answers[place] for key, place in asked.items()}
                for test, asked in content["tests"].items()
            }
        return recording

    def save(self) -> None:
        """Write each different answer once, on a line of its own."""
        places: dict[str, int] = {}
        for asked in self.tests.values():
            for answer in asked.values():
                places.setdefault(_line(answer), len(places))
        tests = {
            test: {key: places[_line(answer)] for key, answer in sorted(asked.items())}
            for test, asked in sorted(self.tests.items())
        }
        lines = ",\n".join(places)
        self.path.write_text(
            f'{{"made": {json.dumps(self.made, indent=1)},\n"tests": {json.dumps(tests, indent=1)},\n'
            f'"answers": [\n{lines}\n]}}\n'
        )


def _line(answer: Answer) -> str:
    return json.dumps(asdict(answer), ensure_ascii=False, separators=(",", ":"))
