"""Screenshots of the guide: current, small, and with alternative texts."""

import re
from pathlib import Path

import pytest
from PIL import Image

from guide.screenshots.browser import MAXIMUM_BYTES, SCALE, chromium, save_screenshots
from guide.screenshots.figures import HEIGHT, SCHEMES, SCREENSHOTS, WIDTH, figure, file_of
from guide.screenshots.shop import fill
from rankery import Client
from tests.guide.conftest import ROOT


@pytest.mark.slow
def test_every_screenshot_is_taken(guide_service: str, chromium_path: str, tmp_path: Path) -> None:
    """Each page of the dashboard has a light and a dark screenshot of one size, within the size limit."""
    folder = tmp_path / "screenshots"
    with Client(guide_service) as client, chromium(chromium_path) as browser:
        save_screenshots(browser, guide_service, fill(client, tmp_path), folder)
    for name in SCREENSHOTS:
        pictures = [file_of(name, scheme, folder) for scheme in SCHEMES]
        assert all(0 < picture.stat().st_size <= MAXIMUM_BYTES for picture in pictures), name
        light, dark = (Image.open(picture) for picture in pictures)
        assert light.size == dark.size == (WIDTH * SCALE, HEIGHT * SCALE)
        assert light.tobytes() != dark.tobytes(), name

    shown = figure("comparison", depth=1, folder=folder)
    assert shown.count("![A comparison: ") == len(SCHEMES)
    assert "](../images/screenshots/comparison-dark.webp#only-dark)" in shown


def test_every_screenshot_is_placed() -> None:
    """Pages use exactly these screenshots, and a guide built without them has no broken image."""
    pages = [page.read_text() for page in (ROOT / "docs").rglob("*.md")]
    placed = {name for page in pages for name in re.findall(r"^ *!screenshot (\S+)$", page, re.MULTILINE)}
    assert placed == set(SCREENSHOTS)
    assert figure("comparison", depth=1, folder=ROOT / "absent") == ""
