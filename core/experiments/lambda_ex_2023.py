"""Marcuzzi, Lucchese and Orlando 2023, LambdaRank Gradients are Incoherent; tables 5 and 6 as printed."""

from collections.abc import Mapping
from typing import Any

from core.experiments.paper import (
    SIZES,
    Claim,
    Diagnostics,
    Entry,
    Measure,
    Method,
    Paper,
    Printed,
    Protocol,
    Significance,
    Table,
    printed_row,
    transpose,
)
from core.experiments.rules import Above, Alike, Larger, Narrower, Reaches

# NDCG in percent: LambdaMART τ = k, k + 3, ∞; LambdaMART-eX static, random, all, all-static, all-random; then
# the same for LambdaLoss. By cutoff and corpus.
TABLE_5: Mapping[int, Mapping[str, str]] = {
    5: {
        "Istella-X": "73.32 74.11 75.35** 75.19** 75.17** 75.15** 75.19** 75.17**"
        " 74.08 74.22 75.40** 75.33** 75.19** 75.14** 75.33** 75.19**",
        "Istella-S": "70.19 70.42 70.64* 70.67** 70.71** 70.55 70.65* 70.64*"
        " 69.97 70.50 71.11** 70.92** 70.92** 70.97** 70.95** 71.02**",
        "Istella": "67.02 67.24 67.62** 67.55** 67.67** 67.50** 67.68** 67.71**"
        " 66.97 67.56 68.18** 68.08** 68.26** 68.24** 68.07** 68.18**",
        "Yahoo set 1": "75.35 75.59 75.85** 75.67 75.59 75.63 75.73 75.67"
        " 75.44 75.69 74.96 75.74 75.81 75.84 75.74 75.86",
        "MSLR-WEB30K": "50.66 51.15 51.22 50.95 50.96 51.24 51.42* 51.38"
        " 50.77 51.04 49.19 50.99 50.92 51.05 51.10 51.08",
    },
    10: {
        "Istella-X": "77.53 78.55 78.61 78.61 78.61 78.61 78.61 78.61"
        " 77.91 78.35 78.74 78.94** 78.77* 78.94** 78.94** 78.77*",
        "Istella-S": "76.35 76.48 76.71** 76.66** 76.70** 76.69** 76.72** 76.70**"
        " 76.63 76.89 77.37** 77.26** 77.43** 77.23** 77.44** 77.28**",
        "Istella": "71.85 72.07 72.39** 72.42** 72.46** 72.42** 72.35** 72.46**"
        " 72.18 72.53 73.17** 73.21** 73.20** 73.16** 73.12** 73.15**",
        "Yahoo set 1": "79.62 79.78 79.84 79.66 79.75 79.78 79.81 79.80"
        " 79.63 79.68 79.19 79.94** 79.94** 79.98** 79.93** 79.89*",
        "MSLR-WEB30K": "52.66 53.02 52.98 52.96 53.08 53.23* 53.19 53.14"
        " 52.89 53.08 51.36 52.99 52.98 52.95 53.02 52.99",
    },
    15: {
        "Istella-X": "79.00 79.29 79.45 79.44 79.48 79.44 79.44 79.48"
        " 78.81 79.06 79.73** 79.60* 79.78** 79.60* 79.60* 79.78**",
        "Istella-S": "80.63 80.59 80.73* 80.69 80.71* 80.75** 80.80** 80.73*"
        " 80.96 81.15 81.29 81.31* 81.40** 81.38** 81.38** 81.38**",
        "Istella": "75.46 75.56 75.87** 75.94** 75.90** 75.92** 76.00** 76.00**"
        " 75.97 76.24 76.74** 76.85** 76.85** 76.83** 76.82** 76.85**",
        "Yahoo set 1": "82.01 81.96 82.03 81.94 82.07 82.04 82.07 82.04"
        " 81.88 81.95 81.50 82.15* 82.16** 82.09 82.09 82.09",
        "MSLR-WEB30K": "54.60 54.72 54.67 54.82 54.93** 54.84 54.75 54.83"
        " 54.68 54.60 53.23 54.63 54.65 54.64 54.69 54.62",
    },
}

# Milliseconds of LambdaMART at k = 5 in the same order, by timed part and corpus.
TABLE_6: Mapping[str, Mapping[str, str]] = {
    "objective": {
        "Istella-X": "89 100 2574 115 132 118 113 130",
        "Istella-S": "12 16 31 17 20 18 18 22",
        "Istella": "30 38 119 43 49 46 45 52",
        "Yahoo set 1": "3 4 12 4 6 6 6 7",
        "MSLR-WEB30K": "4 5 34 5 7 9 8 10",
    },
    "tree": {
        "Istella-X": "672 751 3253 792 815 795 796 813",
        "Istella-S": "156 122 143 129 129 130 130 133",
        "Istella": "263 288 380 306 308 301 299 307",
        "Yahoo set 1": "207 205 215 208 294 287 209 212",
        "MSLR-WEB30K": "291 298 388 324 317 326 314 334",
    },
}


CUTOFFS = (5, 10, 15)
CORPORA = ("Istella-X", "Istella-S", "Istella", "Yahoo set 1", "MSLR-WEB30K")
_SELECTIONS = ("static", "random", "all", "all-static", "all-random")
_BASELINES = ("τ=k", "τ=k+3", "τ=∞")
_K, _K3, _ALL_PAIRS = (f"LambdaMART {name}" for name in _BASELINES)
_LM_EX = tuple(f"LambdaMART-eX {name}" for name in _SELECTIONS)
_LM = (_K, _K3, _ALL_PAIRS, *_LM_EX)
_LL_EX = tuple(f"LambdaLoss-eX {name}" for name in _SELECTIONS)
_LL = (*(f"LambdaLoss {name}" for name in _BASELINES), *_LL_EX)
_COLUMNS = tuple(f"NDCG@{k}" for k in CUTOFFS)

_ISTELLA = {
    "learning_rate": 0.05,
    "num_leaves": 64,
    "min_data_in_leaf": 20,
    "min_sum_hessian_in_leaf": 0.001,
}
_HYPERPARAMETERS: Mapping[str, Mapping[str, Any]] = {  # table 4
    **dict.fromkeys(("Istella-X", "Istella-S", "Istella"), _ISTELLA),
    "Yahoo set 1": {
        "learning_rate": 0.02,
        "num_leaves": 400,
        "min_data_in_leaf": 50,
        "min_sum_hessian_in_leaf": 0.0,
    },
    "MSLR-WEB30K": {
        "learning_rate": 0.02,
        "num_leaves": 200,
        "min_data_in_leaf": 100,
        "min_sum_hessian_in_leaf": 0.0,
    },
}
_QUICK = {"learning_rate": 0.1, "num_leaves": 8, "min_data_in_leaf": 50}
_SMALL_MU = {corpus: {"mu": 0.5} for corpus in ("Yahoo set 1", "MSLR-WEB30K")}  # section 5.2

_NORMALISATION = (
    "The authors' code used LightGBM's normalisation of lambdas; the paper's text and these losses have none."
)
_DISTANCES = (
    "The authors' code has δ of equation 19 off by one, so that its LambdaLoss columns are not equation 19."
)
_MULTISET = (
    "Missed labels are a multiset, as in the authors' code; the paper's text uses sets"
    " (`missed_labels`: `set`)."
)


def _method(row: str, k: int) -> Method:
    family, _, form = row.partition(" ")
    is_loss = family.startswith("LambdaLoss")
    loss: dict[str, Any] = {"name": "ndcg-loss2++", "mu": 5.0} if is_loss else {"name": "lambdarank"}
    extended = form in _SELECTIONS
    if form != "τ=∞":
        loss["truncation_level"] = k + 3 if form == "τ=k+3" else k
    if extended:
        loss["pair_selection"] = form
    return Method(
        name=row,
        loss=loss,
        hyperparameters={"max_bin": 255},
        by_corpus=_HYPERPARAMETERS,
        loss_by_corpus=_SMALL_MU if is_loss and extended else {},
        quick=_QUICK,
        deviations=(
            _NORMALISATION,
            *((_DISTANCES,) if is_loss else ()),
            *((_MULTISET,) if extended else ()),
        ),
    )


def _protocol(k: int, description: str = "") -> Protocol:
    return Protocol(
        trees=1_000,
        quick_trees=100,
        early_stopping=None,
        selection=f"ndcg@{k}",
        metrics=tuple(f"ndcg@{cutoff}" for cutoff in CUTOFFS),
        contract="lightgbm",
        description=description,
    )


def _table_5_entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(
            row=row,
            column=f"NDCG@{k}",
            method=_method(row, k),
            metric=f"ndcg@{k}",
            selection=f"ndcg@{k}",
        )
        for row in (*_LM, *_LL)
        for k in CUTOFFS
    )


def _printed_table_5() -> dict[str, dict[str, dict[str, Printed]]]:
    rows = (*_LM, *_LL)
    return {
        corpus: transpose({f"NDCG@{k}": printed_row(rows, TABLE_5[k][corpus]) for k in CUTOFFS})
        for corpus in CORPORA
    }


def _above(better: tuple[str, ...], worse: str, column: str) -> Above:
    return Above(tuple(((row, column), (worse, column)) for row in better))


def _claims_of_table_5() -> tuple[Claim, ...]:
    claims = []
    for family, rows, extended in (("LambdaMART", _LM, _LM_EX), ("LambdaLoss", _LL, _LL_EX)):
        k, k3, all_pairs = rows[:3]
        label = family.lower()
        claims += [
            Claim(
                name=f"{label}-truncation-hurts",
                statement=f"{family} at k = 5: all pairs and every Lambda-eX form are above τ = k.",
                source="section 5.3, table 5",
                rule=_above((all_pairs, *extended), k, "NDCG@5"),
            ),
            Claim(
                name=f"{label}-ex-above-baseline",
                statement=f"{family} at k = 5: every Lambda-eX form is above τ = k + 3.",
                source="section 5.3, table 5",
                rule=_above(extended, k3, "NDCG@5"),
            ),
            Claim(
                name=f"{label}-ex-as-all-pairs",
                statement=f"{family} at k = 5: every Lambda-eX form is within half a point of all pairs.",
                source="section 5.3, table 5",
                rule=Alike(tuple(((row, "NDCG@5"), (all_pairs, "NDCG@5")) for row in extended), margin=0.005),
            ),
            Claim(
                name=f"{label}-gap-narrows",
                statement=f"{family}: the lead of Lambda-eX random over τ = k is smaller at k = 15 than"
                " at k = 5.",
                source="section 5.3",
                rule=Narrower(
                    narrow=((extended[1], "NDCG@15"), (k, "NDCG@15")),
                    wide=((extended[1], "NDCG@5"), (k, "NDCG@5")),
                ),
            ),
        ]
    return tuple(claims)


_TABLE_5 = Table(
    name="table-5",
    caption="Test NDCG@k of LambdaMART and LambdaLoss by truncation and Lambda-eX",
    rows=(*_LM, *_LL),
    columns=_COLUMNS,
    entries=_table_5_entries(),
    protocol=_protocol(
        5, "1,000 trees for each k of 5, 10 and 15; the best iteration by NDCG@k on the validation data."
    ),
    printed=_printed_table_5(),
    significance=Significance(
        test="randomisation",
        levels={"**": 0.01, "*": 0.05},
        reference={row: (_LM if row in _LM else _LL)[1] for row in (*_LM, *_LL)},
        description="Fisher's randomisation test, two-sided, against τ = k + 3 of the same family.",
    ),
    claims=_claims_of_table_5(),
    deviations=(
        "The paper does not print the metric contract: queries without a relevant document count 1,"
        " as in LightGBM.",
    ),
)


_TIMES: tuple[tuple[str, Measure], ...] = (
    ("objective", "objective-milliseconds"),
    ("tree", "tree-milliseconds"),
)


def _table_6_entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(row=row, column=column, method=_method(row, 5), metric="ndcg@5", measure=measure)
        for row in _LM
        for column, measure in _TIMES
    )


_TABLE_6 = Table(
    name="table-6",
    caption="Milliseconds of the objective and of a whole tree, LambdaMART at k = 5",
    rows=_LM,
    columns=("objective", "tree"),
    entries=_table_6_entries(),
    protocol=_protocol(5),
    unit="milliseconds",
    printed={
        corpus: transpose({name: printed_row(_LM, TABLE_6[name][corpus]) for name in ("objective", "tree")})
        for corpus in CORPORA
    },
    claims=(
        Claim(
            name="all-pairs-cost-most",
            statement="The objective takes the most time with all pairs.",
            source="section 5.3, table 6",
            rule=Larger(
                tuple((((_ALL_PAIRS), "objective"), (row, "objective")) for row in _LM if row != _ALL_PAIRS)
            ),
        ),
    ),
    deviations=("Times were measured on this machine; the times of the paper are from another machine.",),
)

_FIGURE_3 = Table(
    name="figure-3",
    caption="Share of queries with an incoherent gradient at the cutoff by tree, LambdaMART at k = 5",
    rows=_LM,
    columns=("mean from tree 10",),
    entries=tuple(
        Entry(
            row=row,
            column="mean from tree 10",
            method=_method(row, 5),
            metric="diagnostics/strictly-incoherent-queries",
            measure="average",
            first_tree=10,
            diagnostics=Diagnostics(cutoff=5, interval=10, quick_interval=20),
        )
        for row in _LM
    ),
    protocol=_protocol(5),
    claims=(
        Claim(
            name="truncation-is-incoherent",
            statement="The share is largest with τ = k; with τ = k + 3 it is larger than with all pairs.",
            source="section 5.3, figure 3",
            rule=Larger(
                (
                    *(((_K, "mean from tree 10"), (row, "mean from tree 10")) for row in _LM if row != _K),
                    ((_K3, "mean from tree 10"), (_ALL_PAIRS, "mean from tree 10")),
                )
            ),
        ),
    ),
    deviations=("The share is measured every 10 trees, every 20 at the quick scale.",),
)

_FIGURE_4 = Table(
    name="figure-4",
    caption="Validation NDCG@5 by tree",
    rows=_LM,
    columns=("best NDCG@5",),
    entries=tuple(
        Entry(
            row=row,
            column="best NDCG@5",
            method=_method(row, 5),
            metric="validation/ndcg@5",
            measure="best",
        )
        for row in _LM
    ),
    protocol=_protocol(5),
    claims=(
        Claim(
            name="fewer-trees",
            statement="Lambda-eX random needs 30% of the trees of τ = k + 3 for its best validation NDCG.",
            source="section 5.3, figure 4",
            rule=Reaches((("LambdaMART-eX random", "best NDCG@5"), (_K3, "best NDCG@5")), share=0.3),
        ),
    ),
)

PAPER = Paper(
    name="lambda-ex-2023",
    title="LambdaRank Gradients are Incoherent",
    authors="Marcuzzi, Lucchese and Orlando",
    year=2023,
    tables=(_TABLE_5, _TABLE_6, _FIGURE_3, _FIGURE_4),
    corpora=CORPORA,
    printed_corpus_by_source={"sparse": "Istella-X", "synthetic": "MSLR-WEB30K", "folder": "MSLR-WEB30K"},
    data="sparse",
    sizes=SIZES,
)
