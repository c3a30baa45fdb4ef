"""The index of the architecture's decisions, from the decisions themselves."""

import re
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "docs" / "adr"
_TITLE = re.compile(r"^# (?P<number>\d+)\. (?P<title>.+)$", re.MULTILINE)
_DECISION = re.compile(r"\*\*Decision\.\*\* (?P<sentence>.+?[.:])(?:\s|$)", re.DOTALL)
_INTRODUCTION = """\
# Decisions

What someone could reverse by accident, with what else was thought of and why it was not taken.

| | decision | in a sentence |
| --- | --- | --- |
"""


def names() -> list[str]:
    """List the files of the decisions, by number."""
    return sorted(path.name for path in _FOLDER.glob("*.md"))


def pages() -> dict[str, str]:
    """Return the index."""
    return {"adr/index.md": _INTRODUCTION + "".join(map(_row, names()))}


def _row(name: str) -> str:
    text = (_FOLDER / name).read_text()
    title, decision = _TITLE.search(text), _DECISION.search(text)
    if title is None or decision is None:
        msg = f"docs/adr/{name} must begin with '# number. title' and tell its '**Decision.**'"
        raise ValueError(msg)
    sentence = " ".join(decision["sentence"].rstrip(":.").split()).replace("|", "\\|")
    return f"| {title['number']} | [{title['title']}]({name}) | {sentence}. |\n"
