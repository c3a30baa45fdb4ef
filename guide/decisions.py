"""The architecture's decisions, and their index."""

import re
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "docs" / "adr"
_TITLE = re.compile(r"^# (?P<number>\d+)\. (?P<title>.+)$", re.MULTILINE)
_DECISION = re.compile(r"\*\*Decision\.\*\* (?P<sentence>.+?[.:])(?:\s|$)", re.DOTALL)
_INTRODUCTION = """\
# Decisions

Decisions that someone could reverse by accident, with the alternatives and the reasons.

| number | title | decision |
| --- | --- | --- |
"""


def pages() -> dict[str, str]:
    """Return the index, and each decision with a link back to it: the navigation shows the index alone."""
    paths = sorted(_FOLDER.glob("*.md"))
    return {
        "adr/index.md": _INTRODUCTION + "".join(map(_row, paths)),
        **{f"adr/{path.name}": f"{path.read_text()}\n[All decisions](index.md)\n" for path in paths},
    }


def _row(path: Path) -> str:
    text = path.read_text()
    title, decision = _TITLE.search(text), _DECISION.search(text)
    if title is None or decision is None:
        msg = f"docs/adr/{path.name} must begin with '# number. title' and tell its '**Decision.**'"
        raise ValueError(msg)
    sentence = " ".join(decision["sentence"].rstrip(":.").split()).replace("|", "\\|")
    return f"| {title['number']} | [{title['title']}]({path.name}) | {sentence}. |\n"
