"""Take screenshots of dashboard pages in a headless browser."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from guide.screenshots.figures import HEIGHT, SCHEMES, SCREENSHOTS, WIDTH, file_of

MAXIMUM_BYTES = 150_000
# Device pixels per CSS pixel: the guide scales pictures down, and screens have high resolution.
SCALE = 1.5
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
_QUALITY = 82
_TIMEOUT_MILLISECONDS = 200_000
# No visible part of the page is marked as busy. Charts are drawn in later frames.
_SETTLED = """() => ![...document.querySelectorAll("main, main [aria-busy]")].some(
  (part) => part.ariaBusy === "true" && part.checkVisibility(),
)"""
_DRAWN_MILLISECONDS = 700


@contextmanager
def chromium(program: str) -> Iterator[Browser]:
    """Start a browser without background network requests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield browser
        browser.close()


def save_screenshots(browser: Browser, url: str, placeholders: Mapping[str, str], folder: Path) -> None:
    """Open each page in both colour schemes, and save a screenshot of its first screen.

    Raises:
        ValueError: A page responds with an error, or its picture exceeds the size limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    quoted = {
        name: value if name == "grid" else quote(value, safe=":") for name, value in placeholders.items()
    }
    for scheme in SCHEMES:
        context = browser.new_context(
            color_scheme=scheme,
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=SCALE,
            reduced_motion="reduce",
        )
        context.set_default_timeout(_TIMEOUT_MILLISECONDS)
        page = context.new_page()
        for name, shot in SCREENSHOTS.items():
            picture = _picture_of(page, url + shot.path.format(**quoted))
            if len(picture) > MAXIMUM_BYTES:
                msg = f"the screenshot {name} has {len(picture):,} bytes; {MAXIMUM_BYTES:,} are allowed"
                raise ValueError(msg)
            file_of(name, scheme, folder).write_bytes(picture)
        context.close()


def _picture_of(page: Page, url: str) -> bytes:
    answer = page.goto(url, wait_until="networkidle")
    if answer is None or not answer.ok:
        msg = f"{url} answers {answer.status if answer else 'nothing'}"
        raise ValueError(msg)
    page.wait_for_function(_SETTLED)
    page.wait_for_timeout(_DRAWN_MILLISECONDS)
    packed = io.BytesIO()
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(packed, "WEBP", quality=_QUALITY, method=6)
    return packed.getvalue()
