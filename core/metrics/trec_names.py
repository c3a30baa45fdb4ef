"""Translate the metric names of trec_eval."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from core.metrics.conventions import PRESETS, Conventions

# `map`, `bpref` and `ndcg` are left out: they are also our names, whose conventions the contract defines.
TREC_EVAL_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "recip_rank": "mrr",
        "Rprec": "r-precision",
        "gm_map": "gm-map",
        "11pt_avg": "11pt-avg",
        "infAP": "inf-ap",
    }
)
TREC_EVAL_NAMES_AT: Mapping[str, str] = MappingProxyType(
    {
        "P": "precision",
        "recall": "recall",
        "success": "success",
        "ndcg_cut": "ndcg",
        "map_cut": "map",
        "iprec_at_recall": "iprec",
    }
)
_AT = re.compile(r"(?P<name>[A-Za-z_]+)[_.](?P<at>[0-9]+(?:\.[0-9]+)?)")


def from_trec_eval(text: str) -> str | None:
    """Return our spelling of a name that only trec_eval has, None for other texts.

    Example:
        >>> from_trec_eval("ndcg_cut_10"), from_trec_eval("iprec_at_recall_0.10"), from_trec_eval("map")
        ('ndcg@10', 'iprec@0.10', None)
    """
    if text in TREC_EVAL_NAMES:
        return TREC_EVAL_NAMES[text]
    match = _AT.fullmatch(text)
    if match is None or match["name"] not in TREC_EVAL_NAMES_AT:
        return None
    return f"{TREC_EVAL_NAMES_AT[match['name']]}@{match['at']}"


def trec_eval_spelling(name: str) -> str | None:
    """Return an example spelling of a metric in trec_eval, None if trec_eval lacks it.

    Example:
        >>> trec_eval_spelling("ndcg"), trec_eval_spelling("mrr"), trec_eval_spelling("err")
        ('ndcg_cut_10', 'recip_rank', None)
    """
    for theirs, ours in TREC_EVAL_NAMES.items():
        if ours == name:
            return theirs
    for theirs, ours in TREC_EVAL_NAMES_AT.items():
        if ours == name:
            return f"{theirs}_{'0.10' if ours == 'iprec' else '10'}"
    return name if name == "bpref" else None


def trec_eval_conventions(conventions: Conventions) -> Conventions:
    """Return trec_eval's conventions, with the values of its options -l, -M and -J from `conventions`."""
    return replace(
        PRESETS["trec_eval"],
        relevance_threshold=conventions.relevance_threshold,
        max_documents=conventions.max_documents,
        judged_only=conventions.judged_only,
    )
