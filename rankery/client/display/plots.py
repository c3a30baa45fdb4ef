"""Plotly figures; plotly is imported only when a figure is drawn."""

from collections.abc import Sequence
from typing import Any

from rankery.client.schemas import answers
from rankery.errors import DataUnusable, PackageMissing

# Readable on light and dark backgrounds, and distinct for people with red-green blindness.
_COLOURS = ("#2a7de1", "#d9730d", "#0f9d76", "#b0569f", "#7a7a7a")
_TEXT_COLOUR = "#7a7a7a"
# Height of a bar chart: a fixed margin for title and axis, and the height of each bar.
_MARGIN_PIXELS, _BAR_PIXELS = 110, 20
_GRID_COLOUR = "rgba(128, 128, 128, 0.25)"


def history(learning: answers.JobHistory, metric: str | None) -> Any:
    """Draw a metric's curves on all data, with the best iteration marked."""
    measured = learning.curves.get("validation") or next(iter(learning.curves.values()), {})
    chosen = metric or next((name for name in measured if name != "loss"), None) or next(iter(measured), None)
    curves = {data: values[chosen] for data, values in learning.curves.items() if chosen in values}
    if chosen is None or not curves:
        names = sorted({name for values in learning.curves.values() for name in values})
        subject = "no metric was" if chosen is None else f"{chosen!r} was not"
        raise DataUnusable(f"{subject} measured; available: {', '.join(names) or 'no curves yet'}")
    figure = _figure(f"{chosen} by iteration", "iteration", chosen)
    for index, (data, values) in enumerate(curves.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        figure.add_scatter(x=learning.iterations, y=values, name=data, mode="lines", line_color=colour)
    if learning.best_iteration is not None:
        label = f"best iteration {learning.best_iteration}"
        figure.add_vline(
            x=learning.best_iteration,
            line_dash="dot",
            line_color=_TEXT_COLOUR,
            annotation_text=label,
            annotation_yshift=18,
        )
    return figure


def evaluation(found: answers.Evaluation) -> Any:
    """Draw means with their intervals, by the cutoff if a metric has several."""
    by_cutoff: dict[str, list[tuple[int, answers.MetricSummary]]] = {}
    for spelling, summary in found.metrics.items():
        name, _, cutoff = spelling.partition("@")
        if cutoff.isdecimal():
            by_cutoff.setdefault(name, []).append((int(cutoff), summary))
    curves = {name: sorted(points, key=lambda point: point[0]) for name, points in by_cutoff.items()}
    curves = {name: points for name, points in curves.items() if len(points) > 1}
    if curves:
        figure = _figure(f"{found.system}: mean and 95% interval", "cutoff k", "mean")
        for index, (name, points) in enumerate(curves.items()):
            summaries = [summary for _, summary in points]
            figure.add_scatter(
                x=[cutoff for cutoff, _ in points],
                y=[summary.mean for summary in summaries],
                error_y=_error(summaries),
                name=f"{name}@k",
                marker_color=_COLOURS[index % len(_COLOURS)],
            )
        return figure
    figure = _figure(f"{found.system}: mean and 95% interval", "", "mean")
    summaries = list(found.metrics.values())
    figure.add_scatter(
        x=list(found.metrics),
        y=[summary.mean for summary in summaries],
        error_y=_error(summaries),
        mode="markers",
        marker_color=_COLOURS[0],
    )
    return figure


def differences(values: answers.Differences, a: str, b: str, metric: str) -> Any:
    """Draw the differences of all queries, in ascending order."""
    title = f"{metric}: {b} − {a}, {values.queries:,} queries"
    figure = _figure(title, "queries, by ascending difference", "difference")
    colours = [_COLOURS[0] if value > 0 else _COLOURS[1] for value in values.differences]
    figure.add_bar(y=values.differences, marker_color=colours, marker_line_width=0)
    figure.update_layout(bargap=0)
    return figure


def importance(gains: answers.ModelImportance, top: int) -> Any:
    """Draw the gains of the most important features, the greatest on top."""
    items = gains.features[:top][::-1]
    return _bars("gain of the splits", [one.feature for one in items], [one.gain for one in items])


def permutations(inspection: answers.Inspection, top: int) -> Any:
    """Draw the drop of a metric when each feature is shuffled, the greatest on top."""
    items = sorted(inspection.importance, key=lambda one: one.mean or 0.0)[-top:]
    error = _error(items, horizontal=True)
    values = [one.mean for one in items]
    return _bars(
        f"{inspection.metric} lost when shuffled", [one.feature for one in items], values, error_x=error
    )


def _bars(title: str, names: list[str], values: Sequence[float | None], **more: Any) -> Any:
    figure = _figure(title, "", "")
    figure.add_bar(x=values, y=names, orientation="h", marker_color=_COLOURS[0], marker_line_width=0, **more)
    # Names that consist of digits are categories, not numbers; every bar has a label.
    figure.update_yaxes(automargin=True, type="category", dtick=1)
    figure.update_layout(height=_MARGIN_PIXELS + _BAR_PIXELS * len(names))
    return figure


def _error(summaries: Sequence[Any], *, horizontal: bool = False) -> dict[str, Any]:
    """Return the intervals in the form of plotly: distances from the mean."""
    ends = [
        (0.0, 0.0)
        if None in (one.mean, one.lower, one.upper)
        else (one.upper - one.mean, one.mean - one.lower)
        for one in summaries
    ]
    error = {"type": "data", "array": [up for up, _ in ends], "arrayminus": [down for _, down in ends]}
    return error | ({"color": _TEXT_COLOUR} if horizontal else {})


def _figure(title: str, x: str, y: str) -> Any:
    try:
        from plotly.graph_objects import Figure
    except ImportError as error:
        raise PackageMissing("plotly is not installed: pip install 'rankery[notebook]'") from error
    figure = Figure(
        layout={
            "title": {"text": title, "font": {"size": 15}},
            "font": {"color": _TEXT_COLOUR},
            "paper_bgcolor": "rgba(0, 0, 0, 0)",
            "plot_bgcolor": "rgba(0, 0, 0, 0)",
            "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
            "height": 380,
            "hovermode": "closest",
        }
    )
    figure.update_xaxes(title=x, gridcolor=_GRID_COLOUR, zerolinecolor=_GRID_COLOUR)
    figure.update_yaxes(title=y, gridcolor=_GRID_COLOUR, zerolinecolor=_GRID_COLOUR)
    return figure
