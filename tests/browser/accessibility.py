"""Accessibility violations that axe-core finds in a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_SERIOUS = {"serious", "critical"}

# Axe takes five times as long for contrast as for all its other rules, mostly for texts that look the same.
# Contrast depends on the text's colour, size and weight, on its background, and on the elements around it.
_PASS_EACH_LOOK_ONCE = """() => {
  const fills = new Map([[null, ""]]);
  const fill = (element) => {
    if (!fills.has(element)) {
      const style = getComputedStyle(element);
      const { backgroundColor, backgroundImage, opacity, mixBlendMode, filter, position } = style;
      const own = [backgroundColor, backgroundImage, opacity, mixBlendMode, filter, position];
      fills.set(element, `${fill(element.parentElement)}|${own}`);
    }
    return fills.get(element);
  };
  const look = (element) => {
    const { color, fontSize, fontWeight, textShadow, webkitTextStroke } = getComputedStyle(element);
    return [color, fontSize, fontWeight, textShadow, webkitTextStroke, fill(element)].join();
  };
  const check = axe._audit.checks["color-contrast"];
  const passes = check.evaluate;
  const passed = new Set();
  check.evaluate = function (element, ...others) {
    const seen = look(element);
    if (passed.has(seen)) return true;
    const result = passes.call(this, element, ...others);
    if (result === true) passed.add(seen);
    return result;
  };
}"""


def violations(page: Page, within: str | None = None, *, every_text: bool = False) -> list[str]:
    """List the rules of axe-core that a page violates, and the elements that violate them.

    Args:
        page: The page.
        within: Selector of the part to check; None checks the whole page.
        every_text: Whether to measure the contrast of a text even if a text of the same style has passed.
    """
    page.evaluate(Axe().axe_script)
    if not every_text:
        page.evaluate(_PASS_EACH_LOOK_ONCE)
    # Request only violations: listing the elements of passed rules takes axe as long as the checks do.
    results = page.evaluate("within => axe.run(within ?? document, { resultTypes: ['violations'] })", within)
    return [
        f"{rule['id']}: {', '.join(str(node['target']) for node in rule['nodes'])}"
        for rule in results["violations"]
        if rule["impact"] in _SERIOUS
    ]
