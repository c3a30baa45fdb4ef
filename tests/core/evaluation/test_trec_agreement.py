"""Runs that miss judged documents and retrieve unjudged ones measure as trec_eval measures them."""

import numpy as np
import pytest
import pytrec_eval

from core.data import RankingDataset
from core.data.trec import Run, join_run
from core.evaluation import measure
from core.metrics import PRESETS

N_QUERIES = 1_000
SPELLINGS = {
    "ndcg": "ndcg",
    "map": "map",
    "recip_rank": "mrr",
    "bpref": "bpref",
    "success_1": "wta",
    **{f"P_{k}": f"precision@{k}" for k in (5, 10, 20)},
    **{f"recall_{k}": f"recall@{k}" for k in (5, 10, 20)},
    **{f"map_cut_{k}": f"map@{k}" for k in (5, 10)},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in (1, 5, 10, 20)},
}
WANTED = {
    "ndcg",
    "map",
    "recip_rank",
    "bpref",
    "success.1",
    "P.5,10,20",
    "recall.5,10,20",
    "map_cut.5,10",
    "ndcg_cut.1,5,10,20",
}

Qrels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def _drawn() -> tuple[Qrels, Scores]:
    """Lists of 1 to 40 judged and 1 to 60 retrieved of 60 documents, many scores tied; some of neither."""
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


def test_every_query_agrees_with_trec_eval() -> None:
    """To 1e-9; a query for which nothing was retrieved counts 0, as with -c."""
    qrels, run = _drawn()
    dataset = RankingDataset.from_arrays(
        np.empty((sum(map(len, qrels.values())), 0)),
        [label for labels in qrels.values() for label in labels.values()],
        np.cumsum([0, *map(len, qrels.values())]),
        query_ids=list(qrels),
        document_ids=[document for labels in qrels.values() for document in labels],
    )
    joined = join_run(
        dataset,
        Run.from_columns(
            [query for query, scores in run.items() for _ in scores],
            [document for scores in run.values() for document in scores],
            [score for scores in run.values() for score in scores.values()],
        ),
    )
    ours = measure(joined.scores, joined, list(SPELLINGS.values()), PRESETS["trec_eval"])
    theirs = pytrec_eval.RelevanceEvaluator(qrels, WANTED).evaluate(run)
    for name, spelling in SPELLINGS.items():
        expected = [theirs[query][name] if query in theirs else 0.0 for query in qrels]
        assert ours[spelling] == pytest.approx(expected, abs=1e-9), spelling
