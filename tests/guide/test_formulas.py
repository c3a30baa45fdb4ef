"""Formulas of the guide: one for each loss and metric, rendered without a script."""

from xml.etree import ElementTree

from core.losses import LOSSES
from core.metrics import METRICS
from guide.formulas import _LATEX, declared, display, in_cell, replace_formulas

_DECLARED = [*(loss.formula for loss in LOSSES.values()), *(metric.formula for metric in METRICS.values())]
_MATHML = "{http://www.w3.org/1998/Math/MathML}math"


def test_every_declared_formula_has_its_latex() -> None:
    """The table has exactly the formulas that losses and metrics declare."""
    assert set(_LATEX) == set(_DECLARED), "update the table of guide/formulas.py"


def test_every_formula_becomes_mathml() -> None:
    """Each part is a `math` element with its LaTeX as alternative text, without Markdown characters."""
    for formula in _DECLARED:
        for drawn in (display(declared(formula)), in_cell(declared(formula))):
            parts = ElementTree.fromstring(drawn.replace("&", "&amp;"))
            assert [part.tag for part in parts] == [_MATHML] * len(parts), formula
            assert all(part.get("alttext") for part in parts)
            assert not set("|*_`") & set("".join(parts.itertext())), formula


def test_formulas_of_pages_are_replaced_and_code_is_not() -> None:
    """Inline and separate formulas become MathML, and code that looks like a formula is unchanged."""
    page = "So $`x_i | y`$ holds.\n\n```math\n\\frac{a}{b}\n```\n\n```bash\necho $`pwd`$\n```\n"
    replaced = replace_formulas(page)
    assert replaced.count("<math ") == 2
    assert '<div class="formula">' in replaced
    assert replaced.endswith("```bash\necho $`pwd`$\n```\n")
