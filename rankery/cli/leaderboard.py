"""The leaderboard of an automatic training."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from rankery.cli.printing import plain, table, titled

if TYPE_CHECKING:
    from rankery.client.views.job import CandidateView


def leaderboard(candidates: "Sequence[CandidateView]", metric: str) -> RenderableType:
    """Return a table of the measured candidates of an automatic training, and the names of the others.

    Args:
        candidates: The best first.
        metric: Name of the metric that ranks the candidates.
    """
    rows = [candidate.summary() for candidate in candidates if candidate.value is not None]
    unmeasured: dict[str, list[str]] = {}
    for candidate in candidates:
        if candidate.value is None:
            unmeasured.setdefault(candidate.words, []).append(candidate.name)
    names = list(rows[0]) if rows else ["candidate"]
    headings = {name: metric if name == "#value" else name.removeprefix("#") for name in names}
    right = [headings[name] for name in names if name.startswith("#")]
    shown = table(*headings.values(), right=[*right, "interval"], wrap=("candidate", "status"))
    for row in rows:
        shown.add_row(*(plain(row[name]) for name in names))
    lines = (plain(f"{words} ({', '.join(same)})") for words, same in unmeasured.items())
    return Group(titled("candidates, evaluated on queries that they were not trained on", shown), *lines)
