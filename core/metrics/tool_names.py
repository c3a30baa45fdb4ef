"""Translate metric names of ir_measures, such as `RBP(p=0.95)`, and of trec_eval, such as `ndcg_cut_10`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from core.errors import InvalidInput
from core.metrics.conventions import PRESETS, Conventions

# `Rprec` and `infAP` are left out: these names also exist in trec_eval, and imply trec_eval's conventions.
IR_MEASURES_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "nDCG": "ndcg",
        "NDCG": "ndcg",
        "AP": "map",
        "MAP": "map",
        "RR": "mrr",
        "MRR": "mrr",
        "P": "precision",
        "Precision": "precision",
        "R": "recall",
        "Recall": "recall",
        "Success": "success",
        "ERR": "err",
        "RBP": "rbp",
        "Bpref": "bpref",
        "BPref": "bpref",
        "RPrec": "r-precision",
        "IPrec": "iprec",
        "Judged": "judged",
    }
)
_SPELLING = re.compile(r"(?P<name>[A-Za-z]+)(?:\((?P<arguments>[^()]*)\))?(?P<at>@[^@()]*)?")
_ARGUMENT = re.compile(r"\s*(?P<key>[A-Za-z_]+)\s*=\s*(?P<value>[^,=]*?)\s*")
_PERSISTENCE = re.compile(r"0?\.[0-9]{1,6}")
_CUTOFF = re.compile(r"[1-9][0-9]{0,5}")
_BY_CONTRACT = "the contract defines relevance (relevance_threshold; 1.5 for rel=2) and the gains (gain)"


def from_ir_measures(text: str) -> str | None:
    """Return our spelling of a metric of ir_measures, None for other texts.

    Raises:
        InvalidInput: For arguments in brackets other than a cutoff, judged_only and the persistence of RBP.

    Example:
        >>> from_ir_measures("nDCG(cutoff=10)"), from_ir_measures("RBP(p=0.95)"), from_ir_measures("ndcg@10")
        ('ndcg@10', 'rbp(0.95)', None)
        >>> from_ir_measures("nDCG(judged_only=True)@10")
        'ndcg(judged)@10'
    """
    match = _SPELLING.fullmatch(text)
    if match is None or match["name"] not in IR_MEASURES_NAMES:
        return None
    name, at = IR_MEASURES_NAMES[match["name"]], match["at"] or ""
    if match["arguments"] is None:
        return f"{name}{at}"
    ours_in_brackets: list[str] = []
    refused: list[str] = []
    for text_of_argument in match["arguments"].split(","):
        argument = _ARGUMENT.fullmatch(text_of_argument)
        key, value = (argument["key"], argument["value"]) if argument else ("", "")
        if name == "rbp" and key == "p" and _PERSISTENCE.fullmatch(value):
            ours_in_brackets.insert(0, value)
        elif key == "judged_only" and value in ("True", "False"):
            ours_in_brackets += ["judged"] if value == "True" else []
        elif key == "cutoff" and not at and _CUTOFF.fullmatch(value):
            at = f"@{value}"
        else:
            refused.append(text_of_argument.strip())
    brackets = f"({','.join(ours_in_brackets)})" if ours_in_brackets else ""
    ours = f"{name}{brackets}{at}"
    if refused:
        listed = ", ".join(refused)[:40]
        raise InvalidInput.at("", f"{match['name']} does not accept {listed!r}; write {ours}: {_BY_CONTRACT}")
    return ours


def ir_measures_spelling(name: str) -> str | None:
    """Return an example spelling of a metric in ir_measures, None if ir_measures lacks it.

    Example:
        >>> ir_measures_spelling("ndcg"), ir_measures_spelling("bpref"), ir_measures_spelling("auc")
        ('nDCG@10', 'Bpref', None)
    """
    theirs = next((theirs for theirs, ours in IR_MEASURES_NAMES.items() if ours == name), None)
    if theirs is None or name in ("bpref", "r-precision"):
        return theirs
    return f"{theirs}@0.1" if name == "iprec" else f"{theirs}@10"


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
