"""Contrast is measured once for texts that look the same, and no violation is missed."""

import pytest

from tests.browser.accessibility import violations
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

# Each text has the colour and the size of an earlier, readable text.
TEXTS = """
<main style="background: white; color: #666">
  <h1>Readable</h1> <p>readable</p> <p>readable, too</p>
  <p id="background" style="background: #ccc">on grey</p>
  <div style="background: #ccc"><p id="around">in something grey</p></div>
  <div style="opacity: 0.5"><p id="faint">in something faint</p></div>
  <p id="colour" style="color: #aaa">too light</p> <p id="again" style="color: #aaa">too light, too</p>
  <p style="font-size: 32px; color: #888">large</p> <p id="small" style="color: #888">small</p>
  <button disabled style="background: #ccc; color: #999">disabled</button>
  <button id="enabled" style="background: #ccc; color: #999">enabled</button>
</main>
"""


@pytest.mark.parametrize("every_text", [False, True])
def test_each_text_with_too_little_contrast_is_found(visit: Visit, every_text: bool) -> None:
    """Violations by background, opacity, colour and size are found with and without `every_text`."""
    page = visit.open("/healthz")
    page.evaluate(
        "([title, texts]) => { document.title = title; document.body.innerHTML = texts; }", ["Texts", TEXTS]
    )
    [contrast] = [found for found in violations(page, every_text=every_text) if "contrast" in found]
    wrong = ["background", "around", "faint", "colour", "again", "small", "enabled"]
    assert contrast == "color-contrast: " + ", ".join(f"['#{name}']" for name in wrong)
