"""Formulas and tables of losses, metrics, contracts, formats and limits, from their registries."""

from dataclasses import fields
from html import escape
from typing import Any

from app.http.admission.limits import LIMITS
from core.export import FORMATS, TREE_FORMATS
from core.losses import LOSSES
from core.losses.options import NdcgWeightedLoss, PairwiseLoss
from core.metrics import METRICS, PRESETS, ir_measures_spelling, trec_eval_spelling
from core.parameters import Parameter, parameters_of
from guide.fields import cell
from guide.formulas import declared, display, in_cell


def loss(name: str) -> str:
    """Return the formula, the source and the specific hyperparameters of a loss."""
    cls = LOSSES[name]
    bases = [base for base in (PairwiseLoss, NdcgWeightedLoss) if issubclass(cls, base)]
    shared = {field.name for base in bases for field in fields(base)}
    own = [p for p in parameters_of(cls) if p.name not in shared]
    return f'{display(declared(cls.formula))}\n<p class="source">{escape(cls.source)}</p>\n\n' + _table(own)


def options() -> str:
    """List the common hyperparameters of pairwise losses, and of losses with gain weights."""
    return _table(parameters_of(NdcgWeightedLoss))


def metrics() -> str:
    """List the metrics."""
    rows = [
        f"| `{name}` | {cell(metric.summary)} | {in_cell(declared(metric.formula))} |\n"
        for name, metric in METRICS.items()
    ]
    return "| metric | definition | formula |\n| --- | --- | --- |\n" + "".join(rows)


def spellings() -> str:
    """List the names of the metrics in other tools."""
    rows = [
        f"| `{name}` | {_code(trec_eval_spelling(name))} | {_code(ir_measures_spelling(name))} |\n"
        for name in METRICS
    ]
    return "| metric | trec_eval | ir_measures |\n| --- | --- | --- |\n" + "".join(rows)


def limits() -> str:
    """List the limits of requests."""
    rows = [
        f"| {limit.name} | {cell(limit.bounds)} | {limit.default:g} | {_setting(limit.setting)} |\n"
        for limit in LIMITS
    ]
    return "| limit | bounds | default | setting |\n| --- | --- | --- | --- |\n" + "".join(rows)


def _setting(name: str | None) -> str:
    return "—" if name is None else f"`RANKERY_{name.upper()}`"


def _code(spelling: str | None) -> str:
    return f"`{spelling}`" if spelling else "—"


def contracts() -> str:
    """Compare the presets, convention by convention."""
    rows = [
        f"| `{field.name}` | " + " | ".join(_value(getattr(p, field.name)) for p in PRESETS.values()) + " |\n"
        for field in fields(next(iter(PRESETS.values())))
    ]
    head = "| convention | " + " | ".join(f"`{name}`" for name in PRESETS) + " |\n"
    return head + "| --- " * (len(PRESETS) + 1) + "|\n" + "".join(rows)


def formats(scorers: str = "trees") -> str:
    """List the export formats of `trees` or of `networks`, with the limits of each."""
    if scorers == "networks":
        return _network_formats()
    rows = [
        f"| `{name}` | {cell(target.summary)} | {cell(target.reader)} | {cell('; '.join(target.limits))} |\n"
        for name, target in TREE_FORMATS.items()
    ]
    return "| format | description | read by | limits |\n| --- | --- | --- | --- |\n" + "".join(rows)


def _network_formats() -> str:
    kinds = {kind: FORMATS[kind] for kind in ("linear", "mlp", "sum")}
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for kind, targets in kinds.items():
        for name, target in targets.items():
            limits = "; ".join(target.limits)
            rows.setdefault((name, target.summary, target.reader, limits), []).append(f"`{kind}`")
    lines = [
        f"| `{name}` | {', '.join(scorers)} | {cell(summary)} | {cell(reader)} | {cell(limits)} |\n"
        for (name, summary, reader, limits), scorers in rows.items()
    ]
    head = "| format | scorer | description | read by | limits |\n| --- | --- | --- | --- | --- |\n"
    return head + "".join(lines)


def _table(listed: tuple[Parameter, ...] | list[Parameter]) -> str:
    if not listed:
        return ""
    rows = [f"| `{p.name}` | {_value(p.default)} | {_range(p)} | {cell(p.description)} |\n" for p in listed]
    return "| parameter | default | range | description |\n| --- | --- | --- | --- |\n" + "".join(rows) + "\n"


def _range(p: Parameter) -> str:
    if p.choices:
        return ", ".join(f"`{choice}`" for choice in p.choices)
    low = "" if p.minimum is None else f"{'>' if p.above else '≥'} {p.minimum:,g}"
    high = "" if p.maximum is None else f"≤ {p.maximum:,g}"
    return f"{low}{', ' if low and high else ''}{high}"


def _value(value: Any) -> str:
    return "none" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"
