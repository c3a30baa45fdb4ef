"""Registry of the diagnostics of losses, by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from core.diagnostics.bounds import BOUNDS
from core.diagnostics.jacobian import MAX_JACOBIAN_DOCUMENTS

Unit = Literal["share", "mean"]


@dataclass(frozen=True)
class Diagnostic:
    """A diagnostic of a loss.

    Attributes:
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
                "Share of queries in which a document is pushed up harder than a more relevant"
                " document below it",
                "Marcuzzi et al. 2023, definition 3.1",
                "share",
            ),
            Diagnostic(
                "strictly-incoherent-queries",
                "Incoherent at the cutoff",
                "Share of queries in which a false top-k document is pushed up harder than a missed"
                " document below",
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
                "One minus NDCG, mean over the sample",
                "Chen et al. 2009, theorem 1",
                "mean",
            ),
            Diagnostic(
                "essential-loss",
                "Essential loss",
                "Weighted errors of a ranking as a sequence of classifications; at least 1 − NDCG",
                "Chen et al. 2009, equation 7, theorem 1",
                "mean",
            ),
            Diagnostic(
                "w-listmle-bound",
                "Weighted ListMLE",
                "W-ListMLE divided by ln 2; at least the essential loss",
                "Chen et al. 2009, section 4",
                "mean",
            ),
            Diagnostic(
                "rr-error",
                "−ln RR",
                "Negative logarithm of the reciprocal rank; documents with a label above 0 are relevant",
                "Bruch et al. 2019, theorems 1 and 2",
                "mean",
            ),
            Diagnostic(
                "binary-ndcg-error",
                "−ln NDCG",
                "Negative logarithm of NDCG on binary labels; documents with a label above 0 are relevant",
                "Bruch et al. 2019, theorem 3",
                "mean",
            ),
            Diagnostic(
                "softmax-loss",
                "Softmax cross entropy",
                "Softmax cross entropy of binary labels; at least −ln RR and −ln NDCG",
                "Bruch et al. 2019, equation 7",
                "mean",
            ),
            Diagnostic(
                "broken-bounds",
                "Broken bounds",
                f"Share of sampled queries that violate any of the {len(BOUNDS)} bounds of the papers",
                "Chen et al. 2009, Wang et al. 2018, Bruch et al. 2019",
                "share",
            ),
            Diagnostic(
                "asymmetric-jacobians",
                "Asymmetric Jacobians",
                "Share of sampled queries, of at most"
                f" {MAX_JACOBIAN_DOCUMENTS} documents, whose Jacobian is not symmetric, so that the gradient"
                " belongs to no cost; steps do not change ranks",
                "Burges et al. 2006, equation 5",
                "share",
            ),
            Diagnostic(
                "indefinite-jacobians",
                "Indefinite Jacobians",
                "Share of sampled queries, of at most"
                f" {MAX_JACOBIAN_DOCUMENTS} documents, whose Jacobian is not positive semi-definite, so that"
                " the gradient belongs to no convex cost; steps do not change ranks",
                "Burges et al. 2006, section 4",
                "share",
            ),
            Diagnostic(
                "asymmetric-across-ranks",
                "Asymmetric across ranks",
                "Share of sampled queries, of at most"
                f" {MAX_JACOBIAN_DOCUMENTS} documents, whose Jacobian is not symmetric for steps that swap"
                " the ranks of two documents",
                "Burges et al. 2006, equation 5",
                "share",
            ),
        )
    }
)
