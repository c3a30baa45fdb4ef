"""Figures of the pages: values by pointer and keys, zoom, hidden series, themes and widths."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.visit import PHONE, Visit

pytestmark = pytest.mark.browser

_DRAW = """async () => {
    const { figureView } = await import("/static/figures/figure.js");
    const view = figureView();
    document.querySelector("main").replaceChildren(view.node);
    const x = [1, 2, 3, 4, 5];
    view.draw({
        summary: "Two curves.",
        x: { title: "iteration", zero: true, whole: true },
        y: { title: "ndcg@10" },
        series: [
            { name: "train", colour: "train", x, y: [0.1, 0.2, 0.3, 0.4, 0.5] },
            { name: "validation", colour: "accent", x, y: [0.1, 0.3, null, 0.3, 0.3] },
        ],
    });
}"""


@pytest.fixture
def figure(visit: Visit) -> Locator:
    """Draw two curves on a page."""
    page = visit.open("/settings")
    page.evaluate(_DRAW)
    figure = page.locator(".figure")
    figure.locator(".drawing").wait_for()
    return figure


def test_values_are_read_by_the_arrow_keys(figure: Locator) -> None:
    """Each stop shows the values of all series, and announces them to screen readers."""
    plot = figure.get_by_role("img", name="Two curves.")
    announced = figure.page.locator("#announcer")
    plot.press("Home")
    expect(announced).to_have_text("iteration 1: train 0.1, validation 0.1")
    plot.press("ArrowRight")
    expect(announced).to_have_text("iteration 2: train 0.2, validation 0.3")
    expect(figure.locator(".readout")).to_have_text("iteration 2train0.2validation0.3")
    plot.press("ArrowRight")
    expect(announced).to_have_text("iteration 3: train 0.3")
    plot.press("Escape")
    expect(figure.locator(".readout")).to_be_hidden()


def test_values_are_read_under_the_pointer(figure: Locator) -> None:
    """The figure shows the values of the nearest iteration until the pointer leaves."""
    box = figure.locator(".plot").bounding_box()
    assert box
    figure.page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 100)
    expect(figure.locator(".readout")).to_have_text("iteration 4train0.4validation0.3")
    figure.page.mouse.move(0, 0)
    expect(figure.locator(".readout")).to_be_hidden()


def test_a_series_is_hidden_and_shown_alone(figure: Locator) -> None:
    """A legend entry hides its series; pressed twice, it shows this series alone, then all series."""
    train = figure.get_by_role("button", name="train")
    train.press("Enter")
    expect(train).to_have_attribute("aria-pressed", "false")
    expect(train).to_be_focused()
    assert _drawn(figure) == ["validation"]
    train.dblclick()
    assert _drawn(figure) == ["train"]
    train.dblclick()
    assert _drawn(figure) == ["train", "validation"]


def test_a_figure_is_zoomed(figure: Locator) -> None:
    """Dragging or the plus key zooms in, and Show all or a double click shows the whole figure again."""
    box = figure.locator(".plot").bounding_box()
    assert box
    mouse = figure.page.mouse
    mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 62, steps=3)
    mouse.up()
    assert _iterations(figure)[0] == "3"
    whole = figure.get_by_role("button", name="Show all")
    whole.click()
    expect(whole).to_be_hidden()
    assert _iterations(figure)[0] == "0"
    figure.locator(".plot").press("End")
    figure.locator(".plot").press("+")
    assert "0" not in _iterations(figure)
    mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + 60)
    assert _iterations(figure)[0] == "0"


def test_a_figure_follows_theme_and_width(visit: Visit, figure: Locator) -> None:
    """Colours follow the theme without a redraw; a phone has fewer ticks, and axe-core finds no violation."""
    line = figure.locator(".area .line").last
    stroke = "line => getComputedStyle(line).stroke"
    light = line.evaluate(stroke)
    visit.page.emulate_media(color_scheme="dark")
    assert line.evaluate(stroke) != light
    visit.page.set_viewport_size({"width": PHONE, "height": 900})
    expect(figure.locator(".drawing")).to_have_attribute("width", re.compile(r"^3\d\d$"))
    assert visit.violations(".figure") == []


def _drawn(figure: Locator) -> list[str | None]:
    return [each.get_attribute("data-series") for each in figure.locator(".area > .series").all()]


def _iterations(figure: Locator) -> list[str]:
    """Return the labels of the horizontal axis."""
    return figure.locator(".drawing > text[text-anchor=middle]:not(.title)").all_text_contents()
