"""For runs that retrieve unjudged documents and miss judged ones, metrics equal trec_eval's."""

import functools
from collections.abc import Iterator
from itertools import product
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from core.data import RankingDataset
from core.data.trec import JudgedRun, Run, join_run
from core.evaluation import evaluate, measure
from core.metrics import PRESETS, conventions

N_QUERIES = 500
OUR_NAMES = {
    "ndcg": "ndcg",
    "map": "map",
    "recip_rank": "mrr",
    "bpref": "bpref",
    "infAP": "inf-ap",
    "Rprec": "r-precision",
    "11pt_avg": "11pt-avg",
    **{f"success_{k}": f"success@{k}" for k in (1, 5)},
    **{f"iprec_at_recall_{tenth / 10:.2f}": f"iprec@{tenth / 10}" for tenth in range(11)},
    **{f"P_{k}": f"precision@{k}" for k in (5, 10, 20)},
    **{f"recall_{k}": f"recall@{k}" for k in (5, 10, 20)},
    **{f"map_cut_{k}": f"map@{k}" for k in (5, 10)},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in (1, 5, 10, 20)},
}
MEASURES = {
    "ndcg",
    "map",
    "recip_rank",
    "bpref",
    "infAP",
    "Rprec",
    "11pt_avg",
    "gm_map",
    "iprec_at_recall",
    "success.1,5",
    "P.5,10,20",
    "recall.5,10,20",
    "map_cut.5,10",
    "ndcg_cut.1,5,10,20",
}

# trec_eval's own names have its conventions with any preset, except these names, which are also ours.
SHARED = {"ndcg", "map", "bpref"}

Qrels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


@functools.cache
def _drawn() -> tuple[Qrels, Scores]:
    """Draw 1 to 39 judged and 1 to 59 retrieved of 60 documents for each query; many scores are tied.

    Some queries have no relevant document, and some retrieve nothing.
    """
    generator = np.random.default_rng(7)
    qrels: Qrels = {}
    run: Scores = {}
    for number in range(N_QUERIES):
        query = f"q{number}"
        judged = generator.permutation(60)[: generator.integers(1, 40)].tolist()
        grades = [-1, 0, 0, 0, 1, 1, 2, 3] if number % 17 else [0]
        qrels[query] = {f"d{document}": int(generator.choice(grades)) for document in judged}
        if number % 50 != 3:
            retrieved = generator.permutation(60)[: generator.integers(1, 60)].tolist()
            run[query] = {
                f"d{document}": float(np.round(generator.standard_normal() * 2) / 2) for document in retrieved
            }
    return qrels, run


def _joined(qrels: Qrels, run: Scores) -> JudgedRun:
    dataset = RankingDataset.from_arrays(
        np.empty((sum(map(len, qrels.values())), 0)),
        [label for labels in qrels.values() for label in labels.values()],
        np.cumsum([0, *map(len, qrels.values())]),
        query_ids=list(qrels),
        document_ids=[document for labels in qrels.values() for document in labels],
    )
    retrieved = Run.from_columns(
        [query for query, scores in run.items() for _ in scores],
        [document for scores in run.values() for document in scores],
        [score for scores in run.values() for score in scores.values()],
    )
    return join_run(dataset, retrieved)


def combinations() -> Iterator[Any]:
    """Combine levels, depths and presets; a third of the combinations are not slow."""
    for (i, level), (j, depth) in product(enumerate((1, 2, 3)), enumerate((None, 1, 10))):
        for k, preset in enumerate(("trec_eval", "default")):
            marks = () if (i + j) % 3 == k else pytest.mark.slow
            yield pytest.param(level, depth, preset, marks=marks)


def _top(run: Scores, depth: int) -> Scores:
    """Keep so many documents of each query in trec_eval's order: by score, then the larger id first."""
    return {
        query: dict(sorted(scores.items(), key=lambda each: (each[1], each[0]), reverse=True)[:depth])
        for query, scores in run.items()
    }


@pytest.mark.long
@pytest.mark.parametrize(("level", "depth", "preset"), list(combinations()))
def test_every_query_agrees_with_trec_eval(level: int, depth: int | None, preset: str) -> None:
    """Values differ by at most 1e-9, at levels of relevance (-l) and depths (-M).

    With the preset `trec_eval`, metrics have our names. With another preset, they have trec_eval's names,
    which imply its conventions. A query for which nothing was retrieved counts 0, as with -c.
    """
    qrels, run = _drawn()
    joined = _joined(qrels, run)
    spellings = (
        OUR_NAMES if preset == "trec_eval" else {name: name for name in OUR_NAMES if name not in SHARED}
    )
    contract = conventions({"preset": preset, "relevance_threshold": level - 0.5, "max_documents": depth})
    ours = measure(joined.scores, joined, list(spellings.values()), contract)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, relevance_level=level)
    theirs = evaluator.evaluate(run if depth is None else _top(run, depth))
    for name, spelling in spellings.items():
        expected = [theirs[query][name] if query in theirs else 0.0 for query in qrels]
        assert ours[spelling] == pytest.approx(expected, abs=1e-9), spelling


@pytest.mark.long
@pytest.mark.parametrize("preset", ["default", "trec_eval"])
def test_judged_only_is_trec_evals_option(preset: str) -> None:
    """The option -J equals `NAME(judged)` and the convention `judged_only`, at both levels of relevance.

    Where no judged document was retrieved, the average over eleven points is NaN in trec_eval and 0 here.
    """
    qrels, run = _drawn()
    joined = _joined(qrels, run)
    spellings = {name: name for name in OUR_NAMES if name not in SHARED}
    if preset == "trec_eval":
        spellings = {name: _judged(spelling) for name, spelling in OUR_NAMES.items()}
    for level in (1, 2):
        contract = conventions(
            {
                "preset": preset,
                "relevance_threshold": level - 0.5,
                **({"judged_only": True} if preset == "default" else {}),
            }
        )
        ours = measure(joined.scores, joined, list(spellings.values()), contract)
        evaluator = pytrec_eval.RelevanceEvaluator(
            qrels, MEASURES, relevance_level=level, judged_docs_only_flag=True
        )
        theirs = evaluator.evaluate(run)
        for name, spelling in spellings.items():
            expected = [theirs[query][name] if query in theirs else 0.0 for query in qrels]
            assert ours[spelling] == pytest.approx(np.nan_to_num(expected), abs=1e-9), spelling


def _judged(spelling: str) -> str:
    name, at, cutoff = spelling.partition("@")
    return f"{name}(judged){at}{cutoff}"


def test_bpref_is_exactly_zero_where_trec_evals_is() -> None:
    """Rounding errors, such as -5.55e-17, do not replace a value of 0."""
    qrels, run = _drawn()
    joined = _joined(qrels, run)
    ours = measure(joined.scores, joined, ["bpref"], PRESETS["trec_eval"])["bpref"]
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}).evaluate(run)
    nothing = [query not in theirs or theirs[query]["bpref"] == 0.0 for query in qrels]
    assert sum(nothing) > 50
    assert (ours[np.array(nothing)] == 0.0).all()
    assert (ours >= 0.0).all()


def test_the_geometric_mean_agrees_with_trec_eval() -> None:
    """Mean and interval are of logarithms, at least log 1e-5 each, over all judged queries (-c)."""
    qrels, run = _drawn()
    joined = _joined(qrels, run)
    evaluation = evaluate(joined.scores, joined, ["gm_map", "gm-map", "map"], PRESETS["trec_eval"])
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map"}).evaluate(run)
    logarithms = [theirs[query]["gm_map"] if query in theirs else np.log(1e-5) for query in qrels]
    np.testing.assert_allclose(np.log(evaluation.per_query["gm_map"]), logarithms, rtol=0, atol=1e-9)
    summary = evaluation.summaries["gm_map"]
    assert summary == evaluation.summaries["gm-map"]
    assert summary.mean == pytest.approx(np.exp(np.mean(logarithms)), abs=1e-12)
    error = np.std(logarithms, ddof=1) / np.sqrt(len(logarithms))
    assert summary.lower == pytest.approx(np.exp(np.mean(logarithms) - 1.96 * error), rel=0.05)
    assert summary.upper == pytest.approx(np.exp(np.mean(logarithms) + 1.96 * error), rel=0.05)
    assert summary.quantiles is not None
    assert summary.quantiles["p50"] == pytest.approx(np.median(evaluation.per_query["map"]))


def test_judged_at_k_agrees_with_ir_measures() -> None:
    """No scores are tied, since ir_measures orders ties otherwise; short rankings divide by their length."""
    qrels, run = _drawn()
    run = {
        query: {document: score + 1e-6 * index for index, (document, score) in enumerate(scores.items())}
        for query, scores in run.items()
    }
    joined = _joined(qrels, run)
    ours = measure(joined.scores, joined, ["Judged@10", "judged@40"], PRESETS["trec_eval"])
    theirs = {name: dict.fromkeys(qrels, 0.0) for name in ("Judged@10", "Judged@40")}
    for value in ir_measures.iter_calc(list(map(ir_measures.parse_measure, theirs)), qrels, run):
        theirs[str(value.measure)][value.query_id] = value.value
    for found, expected in zip(ours.values(), theirs.values(), strict=True):
        assert found == pytest.approx(list(expected.values()), abs=1e-9)


@pytest.mark.long
def test_ir_measures_names_give_its_numbers_under_trec_evals_contract() -> None:
    """Values by query agree to 1e-9 with those that ir_measures computes by trec_eval."""
    qrels, run = _drawn()
    joined = _joined(qrels, run)
    names = ["nDCG@10", "AP@10", "RR", "P@5", "R@20", "Success@5", "IPrec@0.1", "Bpref", "Judged"]
    names += ["nDCG(judged_only=True)@10", "P(judged_only=True)@5", "RR(judged_only=True)"]
    ours = measure(joined.scores, joined, names, PRESETS["trec_eval"])
    theirs = {name: dict.fromkeys(qrels, 0.0) for name in names}
    for value in ir_measures.iter_calc(list(map(ir_measures.parse_measure, names)), qrels, run):
        theirs[str(value.measure)][value.query_id] = value.value
    for name in names:
        assert ours[name] == pytest.approx(list(theirs[name].values()), abs=1e-9), name
