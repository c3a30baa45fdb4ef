"""Sizes of synthetic datasets shared by several papers."""

from collections.abc import Mapping

from core.experiments.paper import MAIN, Scale, Sizes

# 5 s a training of 100 trees on one core. More relevant documents than the cutoffs, where losses differ.
QUICK_SPARSE = Sizes(
    queries=(300, 150, 1_000),
    parameters={
        "generator": "sparse",
        "documents_per_query": 300,
        "features": 30,
        "relevant_per_query": 20.0,
    },
)
QUICK_POLYNOMIAL = Sizes(queries=(800, 400, 2_000), parameters={"generator": "polynomial"})
PAPER_SPARSE = Sizes(
    queries=(2_000, 1_000, 2_000),
    parameters={"generator": "sparse", "documents_per_query": 1_000, "relevant_per_query": 30.0},
)
# Burges et al. 2006, section 6.3.1
PAPER_POLYNOMIAL = Sizes(queries=(10_000, 5_000, 10_000), parameters={"generator": "polynomial"})

DRAWN: Mapping[Scale, Mapping[str, Mapping[str, Sizes]]] = {
    "quick": {"synthetic": {MAIN: QUICK_POLYNOMIAL}, "sparse": {MAIN: QUICK_SPARSE}},
    "paper": {"synthetic": {MAIN: PAPER_POLYNOMIAL}, "sparse": {MAIN: PAPER_SPARSE}},
}
