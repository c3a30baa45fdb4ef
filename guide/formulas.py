r"""Formulas of the guide: LaTeX in the pages, MathML in the site, which browsers render without a script.

Pages have formulas in the syntax of GitHub and GitLab: inline as $`\sqrt{3}`$, as a display formula in a
fenced block of the language `math`.
"""

import re
from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from latex2mathml.converter import convert

_FENCED = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\S*)[^\n]*\n(?P<text>.*?)^ *(?P=fence)$", re.S | re.M
)
_INLINE = re.compile(r"\$`(?P<latex>[^`]+)`\$")
# Escape Markdown syntax within a formula: table cells, emphasis, code.
_MARKUP = str.maketrans({"|": "&#124;", "*": "&#42;", "_": "&#95;", "`": "&#96;"})

_PAIR = r"\ln\!\left(1 + e^{-\sigma (s_i - s_j)}\right)"
_HINGE = r"\max\!\left(0,\ 1 - \sigma (s_i - s_j)\right)"
_EXPONENTIAL = r"e^{-\sigma (s_i - s_j)}"
_ESSENTIAL = r"\frac{g(y_i)}{\log_2\!\left(2 + \#\{k : y_k > y_i\}\right)}"
_ORDERED = r"\sum_{y_i > y_j}"
_LIKELIHOOD = r"\Big[\ln \sum_{k \ge t} e^{s_k} - s_t\Big]"

# LaTeX by the plain text in the code, so that a changed formula raises KeyError.
_LATEX: Mapping[str, str] = MappingProxyType(
    {
        "½ Σ (s − y)²": r"\frac{1}{2} \sum_i (s_i - y_i)^2",
        "Σ ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j": rf"{_ORDERED} {_PAIR}",
        "Σ g(y_i) / log2(2 + #{k: y_k > y_i}) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j": (
            f"{_ORDERED} {_ESSENTIAL} {_PAIR}"
        ),
        "Σ max(0, 1 − σ(s_i − s_j)), y_i > y_j": f"{_ORDERED} {_HINGE}",
        "Σ g(y_i) / log2(2 + #{k: y_k > y_i}) max(0, 1 − σ(s_i − s_j)), y_i > y_j": (
            f"{_ORDERED} {_ESSENTIAL} {_HINGE}"
        ),
        "Σ e^{−σ(s_i − s_j)}, y_i > y_j": f"{_ORDERED} {_EXPONENTIAL}",
        "Σ g(y_i) / log2(2 + #{k: y_k > y_i}) e^{−σ(s_i − s_j)}, y_i > y_j": (
            f"{_ORDERED} {_ESSENTIAL} {_EXPONENTIAL}"
        ),
        "Σ |ΔZ_ij| ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j; for ndcg |ΔZ_ij| = ρ_ij (G_i − G_j)": (
            rf"{_ORDERED} \left|\Delta Z_{{ij}}\right| {_PAIR}, "
            r"\quad \left|\Delta Z_{ij}\right| = \rho_{ij} (G_i - G_j) \text{ for ndcg}"
        ),
        "Σ y_i ln(1 + e^{−σ(s_i − s_j)}), all i ≠ j": rf"\sum_{{i \ne j}} y_i\, {_PAIR}",
        "Σ (y_i − y_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j": rf"{_ORDERED} (y_i - y_j)\, {_PAIR}",
        "Σ G_i / D(π_i) ln(1 + e^{−σ(s_i − s_j)}), all i ≠ j": (
            rf"\sum_{{i \ne j}} \frac{{G_i}}{{D(\pi_i)}} {_PAIR}"
        ),
        "Σ δ_ij (G_i − G_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j": (
            rf"{_ORDERED} \delta_{{ij}} (G_i - G_j)\, {_PAIR}"
        ),
        "Σ (ρ_ij + μ δ_ij)(G_i − G_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j": (
            rf"{_ORDERED} (\rho_{{ij}} + \mu\, \delta_{{ij}}) (G_i - G_j)\, {_PAIR}"
        ),
        "−Σ t ln softmax(σs)": r"-\sum_i t_i \ln \frac{e^{\sigma s_i}}{\sum_k e^{\sigma s_k}}",
        "Σ_{t<n} [ln Σ_{k≥t} e^{s_k} − s_t], documents by label": (
            rf"\sum_{{t < n}} {_LIKELIHOOD}, \quad \text{{documents by label}}"
        ),
        "Σ_{t<n} g(y_t) / log2(1 + t) [ln Σ_{k≥t} e^{s_k} − s_t], documents by label": (
            rf"\sum_{{t < n}} \frac{{g(y_t)}}{{\log_2(1 + t)}} {_LIKELIHOOD}, "
            r"\quad \text{documents by label}"
        ),
        "−Σ p ln softmax(s), p ∝ 2^y − γ, γ ~ U(0, 1)": (
            r"-\sum_i p_i \ln \frac{e^{s_i}}{\sum_k e^{s_k}}, "
            r"\quad p_i \propto 2^{y_i} - \gamma_i, \quad \gamma_i \sim U(0, 1)"
        ),
        "DCG@k / maxDCG@k": r"\frac{\text{DCG@}k}{\text{maxDCG@}k}",
        "Σ_{r ≤ k} g(y_r) / D(r)": r"\sum_{r \le k} \frac{g(y_r)}{D(r)}",
        "(1/R) Σ_{r ≤ k, relevant} precision@r": (
            r"\frac{1}{R} \sum_{r \le k,\ \text{relevant}} \text{precision@}r"
        ),
        "1 / rank of the first relevant document; 0 beyond k": (
            r"\frac{1}{r_1}, \quad r_1 \text{ the first relevant rank}; \quad 0 \text{ beyond } k"
        ),
        "max(AP, 10⁻⁵); over n queries (Π AP)^(1/n)": (
            r"\max(\text{AP}, 10^{-5}); "
            r"\quad \Big(\prod_{q = 1}^{n} \text{AP}_q\Big)^{1/n} \text{ over } n \text{ queries}"
        ),
        "1 if a document of the top k is relevant, else 0": (
            r"1 \text{ if a document of the top } k \text{ is relevant, else } 0"
        ),
        "relevant documents in the top k / k": r"\frac{\text{relevant documents in the top } k}{k}",
        "relevant documents in the top k / R": r"\frac{\text{relevant documents in the top } k}{R}",
        "1 if the document at rank 1 is relevant, else 0": (
            r"1 \text{ if the document at rank } 1 \text{ is relevant, else } 0"
        ),
        "(1 − p) Σ_{r ≤ k, relevant} p^(r − 1)": r"(1 - p) \sum_{r \le k,\ \text{relevant}} p^{r - 1}",
        "Σ_{r ≤ k} (1/r) R_r Π_{q < r} (1 − R_q), R = g(y) / (1 + g(max_label))": (
            r"\sum_{r \le k} \frac{1}{r} R_r \prod_{q < r} (1 - R_q), "
            r"\quad R_r = \frac{g(y_r)}{1 + g(y_{\max})}"
        ),
        "Σ y_i π_i": r"\sum_i y_i \pi_i",
        "Σ G_i (1 − 1/D_i)": r"\sum_i G_i \left(1 - \frac{1}{D_i}\right)",
        "Σ G_i Σ_{j < i} |1/D_i − 1/D_j|": (
            r"\sum_i G_i \sum_{j < i} \left|\frac{1}{D_i} - \frac{1}{D_j}\right|"
        ),
        "(1/R) Σ_{relevant} 1 − min(n_above, R) / min(R, N)": (
            r"\frac{1}{R} \sum_{\text{relevant}}"
            r" \left(1 - \frac{\min(n_{\text{above}}, R)}{\min(R, N)}\right)"
        ),
        "(1/R) Σ_{r, relevant} (1 + pooled · relevant / judged) / r, counted above r": (
            r"\frac{1}{R} \sum_{r,\ \text{relevant}} \frac{1}{r}"
            r" \left(1 + \text{pooled} \cdot \frac{\text{relevant}}{\text{judged}}\right), "
            r"\quad \text{counted above } r"
        ),
        "#{y_i > y_j, s_i > s_j} / #{y_i > y_j}, ties half": (
            r"\frac{\#\{y_i > y_j,\ s_i > s_j\}}{\#\{y_i > y_j\}}, \quad \text{ties half}"
        ),
        "#{i relevant, j not, s_i > s_j} / (R N), ties half": (
            r"\frac{\#\{i \text{ relevant},\ j \text{ not},\ s_i > s_j\}}{R\, N}, \quad \text{ties half}"
        ),
        "|judged in the top k| / min(k, retrieved)": (
            r"\frac{\text{judged documents in the top } k}{\min(k, \text{retrieved documents})}"
        ),
        "relevant documents in the top R / R": r"\frac{\text{relevant documents in the top } R}{R}",
        "max precision@r over ranks r with ⌊c R + 0.9⌋ relevant documents in the top r": (
            r"\max_r\ \text{precision@}r, "
            r"\quad \lfloor c R + 0.9 \rfloor \text{ relevant documents in the top } r"
        ),
        "(1/11) Σ_{c = 0, 0.1, …, 1} iprec@c": r"\frac{1}{11} \sum_{c = 0,\ 0.1,\ \dots,\ 1} \text{iprec@}c",
    }
)


def replace_formulas(page: str) -> str:
    """Replace the formulas of a page by MathML; other fenced blocks stay unchanged."""
    parts: list[str] = []
    end = 0
    for block in _FENCED.finditer(page):
        parts.append(_replace_inline(page[end : block.start()]))
        parts.append(block["indent"] + display(block["text"]) if block["language"] == "math" else block[0])
        end = block.end()
    return "".join([*parts, _replace_inline(page[end:])])


def declared(formula: str) -> str:
    """Return the LaTeX of a formula that a loss or a metric declares as plain text.

    Raises:
        KeyError: No LaTeX is defined for the formula.
    """
    return _LATEX[formula]


def inline(latex: str) -> str:
    """Return an inline formula in Markdown."""
    return f'<span class="formula-inline">{_parts(latex, "inline")}</span>'


def in_cell(latex: str) -> str:
    """Return a formula for a table cell, with fractions and sums in display size."""
    return f'<span class="formula-cell">{_parts(latex, "block")}</span>'


def display(latex: str) -> str:
    """Return a display formula in Markdown."""
    return f'<div class="formula">{_parts(latex, "block")}</div>'


def _replace_inline(text: str) -> str:
    return _INLINE.sub(lambda formula: inline(formula["latex"]), text)


def _parts(latex: str, kind: str) -> str:
    """Return the parts of a formula between quads as separate MathML, so that narrow pages can wrap."""
    return " ".join(_mathml(part, kind) for part in latex.split(r"\quad"))


def _mathml(latex: str, kind: str) -> str:
    one_line = " ".join(latex.split())
    mathml = convert(one_line, display=kind)
    return mathml.replace("<math ", f'<math alttext="{escape(one_line)}" ', 1).translate(_MARKUP)
