"""Options of commands that compute metrics."""

import math
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from rankery.cli.completion import complete_from
from rankery.cli.names import METRICS, PRESETS

if TYPE_CHECKING:
    from rankery.client.schemas.requests import Contract

Metrics = Annotated[
    list[str] | None,
    typer.Option(
        help="Metric such as ndcg@10, trec_eval's ndcg_cut_10 or ir_measures' nDCG@10; may be repeated. The"
        " first metric decides comparisons.",
        autocompletion=complete_from(METRICS),
        show_default=False,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Metric conventions: default, lightgbm, xgboost, sklearn, trec_eval or letor.",
        autocompletion=complete_from(PRESETS),
        show_default=False,
    ),
]
RelevanceLevel = Annotated[
    float | None,
    typer.Option(
        "--relevance-level",
        "-l",
        help="Smallest label that counts as relevant in binary metrics; trec_eval's -l.",
        show_default=False,
    ),
]
MaxDocuments = Annotated[
    int | None,
    typer.Option(
        "--max-documents",
        "-M",
        min=1,
        max=2**31 - 1,
        help="Evaluate only this many top-ranked documents of each query; trec_eval's -M.",
        show_default=False,
    ),
]

JudgedOnly = Annotated[
    bool,
    typer.Option(
        "--judged-only",
        "-J",
        help="Remove documents without a judgment, or with a label below 0, from rankings; trec_eval's -J.",
    ),
]


def contract_of(
    preset: str, relevance_level: float | None, max_documents: int | None, judged_only: bool
) -> "Contract":
    """Return the contract, the conventions of the metrics, that the options select."""
    changes: dict[str, Any] = {}
    if relevance_level is not None:
        # The threshold of a contract is exclusive: the next smaller float includes the level itself.
        changes["relevance_threshold"] = math.nextafter(relevance_level, -math.inf)
    if max_documents is not None:
        changes["max_documents"] = max_documents
    if judged_only:
        changes["judged_only"] = True
    return cast("Contract", {"preset": preset, **changes} if changes else preset)
