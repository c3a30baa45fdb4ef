"""Registry of the diagnostics of losses, by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from core.diagnostics.bounds import BOUNDS
from core.diagnostics.jacobian import LONGEST

Unit = Literal["share", "mean"]


@dataclass(frozen=True)
class Diagnostic:
    """A diagnostic of a loss.

    Attributes:
        name: Key of the diagnostic.
        title: Short title.
        summary: Description in a sentence.
        source: The statement in the paper.
        unit: A share of queries, from 0 to 1, or a mean over queries.
    """

    name: str
    title: str
    summary: str
    source: str
    unit: Unit


DIAGNOSTICS: Mapping[str, Diagnostic] = MappingProxyType(
    {
        diagnostic.name: diagnostic
        for diagnostic in (
            Diagnostic(
                "incoherent-queries",
                "Incoherent",
                "Share of queries where a document is pushed harder than a more relevant one below it",
                "Marcuzzi et al. 2023, definition 3.1",
                "share",
            ),
            Diagnostic(
                "strictly-incoherent-queries",
                "Incoherent at the cut",
                "Share of queries where a false top-k document is pushed harder than a missed one below",
                "Marcuzzi et al. 2023, section 5.3, Figure 3",
                "share",
            ),
            Diagnostic(
                "ndcg-cost",
                "NDCGcost",
                "Σ G_i (1 − 1/D_i), mean over the sample",
                "Wang et al. 2018, equation 14",
                "mean",
            ),
            Diagnostic(
                "lambdarank-metric",
                "LambdaRank's metric",
                "Σ G_i Σ_{j < i} |1/D_i − 1/D_j|, which LambdaRank's loss bounds; at least NDCGcost",
                "Wang et al. 2018, equation 17",
                "mean",
            ),
            Diagnostic(
                "ndcg-loss2",
                "NDCG-Loss2",
                "NDCG-Loss2 in bits with the constants of its bound; at least NDCGcost",
                "Wang et al. 2018, equation 16",
                "mean",
            ),
            Diagnostic(
                "ndcg-error",
                "1 − NDCG",
                "What is lost against the ideal ranking, mean over the sample",
                "Chen et al. 2009, theorem 1",
                "mean",
            ),
            Diagnostic(
                "essential-loss",
                "Essential loss",
                "Weighted errors of the sequence of classifications that a ranking is; at least 1 − NDCG",
                "Chen et al. 2009, equation 7, theorem 1",
                "mean",
            ),
            Diagnostic(
                "w-listmle-bound",
                "Weighted ListMLE",
                "W-ListMLE over ln 2; at least the essential loss",
                "Chen et al. 2009, section 4",
                "mean",
            ),
            Diagnostic(
                "rr-error",
                "−ln RR",
                "Of the first relevant document, labels above 0 being relevant",
                "Bruch et al. 2019, theorems 1 and 2",
                "mean",
            ),
            Diagnostic(
                "binary-ndcg-error",
                "−ln NDCG",
                "Labels above 0 being relevant",
                "Bruch et al. 2019, theorem 3",
                "mean",
            ),
            Diagnostic(
                "softmax-loss",
                "Softmax cross entropy",
                "Of binary labels; at least −ln RR and −ln NDCG",
                "Bruch et al. 2019, equation 7",
                "mean",
            ),
            Diagnostic(
                "broken-bounds",
                "Broken bounds",
                f"Share of sampled queries on which one of {len(BOUNDS)} bounds of the papers does not hold",
                "Chen et al. 2009, Wang et al. 2018, Bruch et al. 2019",
                "share",
            ),
            Diagnostic(
                "asymmetric-jacobians",
                "Asymmetric Jacobians",
                "Share of sampled queries where the gradient is that of no cost, even while ranks stay;"
                f" of queries of at most {LONGEST} documents",
                "Burges et al. 2006, equation 5",
                "share",
            ),
            Diagnostic(
                "indefinite-jacobians",
                "Indefinite Jacobians",
                "Share of sampled queries where the gradient is that of no convex cost, even while ranks"
                f" stay; of queries of at most {LONGEST} documents",
                "Burges et al. 2006, section 4",
                "share",
            ),
            Diagnostic(
                "asymmetric-across-ranks",
                "Asymmetric across ranks",
                "Share of sampled queries where the gradient is that of no cost once two documents swap"
                f" ranks; of queries of at most {LONGEST} documents",
                "Burges et al. 2006, equation 5",
                "share",
            ),
        )
    }
)
