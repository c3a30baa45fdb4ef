"""Tables of metrics with intervals, of comparisons, and of candidates."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from rankery.cli.printing import number, p_value, plain, table, titled

if TYPE_CHECKING:
    from rankery.client.views.job import CandidateView

Summary = Mapping[str, Any]


def means_table(systems: Mapping[str, Mapping[str, Summary]], contract: str | None) -> Group:
    """Return a table of each system's means with their intervals, one line for each metric.

    Args:
        contract: Preset of metric conventions of the numbers; None for custom conventions.
    """
    title = f"mean over queries with its 95% interval, conventions: {contract or 'custom'}"
    names = [plain(name) for name in systems]
    means = table("metric", *names, right=names)
    for metric in next(iter(systems.values())):
        means.add_row(metric, *(_mean(summaries[metric]) for summaries in systems.values()))
    counted = [next(iter(summaries.values())) for summaries in systems.values()]
    means.add_row("queries", *(f"{summary['queries']:,}" for summary in counted), style="dim")
    return titled(title, means)


def baselines_table(baselines: Sequence[Mapping[str, Any]]) -> Group:
    """Return a table of the untrained baselines of the same data, one line for each metric.

    The line below it names the best single feature.
    """
    names = [plain(one["name"]) for one in baselines]
    means = table("metric", *names, right=names)
    for metric in baselines[0]["metrics"]:
        means.add_row(metric, *(number(one["metrics"][metric]["mean"]) for one in baselines))
    details = "; ".join(f"{plain(one['name'])}: {plain(one['detail'])}" for one in baselines)
    return Group(*titled("untrained baselines on the same data", means).renderables, details)


def pair_table(pair: Mapping[str, Any], names: Sequence[str], correction: str = "holm") -> Group:
    """Return a table of the difference of two systems in each metric, with its interval and p-values."""
    p_values = {"p": "randomisation_p", "Holm": "adjusted_p", "t-test": "t_test_p"}
    if correction == "none":
        del p_values["Holm"]
    numbers = ("change", "95% interval", *p_values, "+ / = / −")
    title = plain(f"{names[pair['b']]} − {names[pair['a']]}")
    differences = table("metric", *numbers, right=numbers)
    for metric, tests in pair["metrics"].items():
        if tests is not None:
            differences.add_row(
                metric,
                number(tests["difference"], signed=True),
                "–" if tests["lower"] is None else f"{tests['lower']:+.4f}, {tests['upper']:+.4f}",
                *(p_value(tests[name]) for name in p_values.values()),
                f"{tests['wins']} / {tests['ties']} / {tests['losses']}",
            )
    return titled(title, differences)


def _mean(summary: Summary) -> str:
    if summary["mean"] is None:
        return "undefined"
    interval = "" if summary["lower"] is None else f" \\[{summary['lower']:.4f}, {summary['upper']:.4f}]"
    return f"{summary['mean']:.4f}{interval}"


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
