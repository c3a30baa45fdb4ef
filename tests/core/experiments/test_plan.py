"""Plans: what is trained for a paper's tables."""

import json
from typing import Any

import pytest

from core.errors import InvalidInput
from core.experiments import PAPERS, plan
from core.experiments.paper import Scale
from core.experiments.plan import spec_digest
from core.experiments.rules import Narrower, Pair, Place, Reaches, Rule
from core.jobs.train import TrainJob
from core.losses import check_combination, loss_values
from core.training import training_spec

PLANS = [
    pytest.param(name, scale, source, corpus, id=f"{name}-{scale}-{source}-{corpus}")
    for name, paper in PAPERS.items()
    for scale in ("quick", "paper")
    for source, corpus in (
        ("synthetic", None),
        ("sparse", None),
        *(("folder", corpus) for corpus in (None, *paper.corpora)),
    )
]


@pytest.mark.parametrize(("name", "scale", "source", "corpus"), PLANS)
def test_every_specification_is_accepted(name: str, scale: Scale, source: str, corpus: str | None) -> None:
    """A training job takes every specification, and no hyperparameter of its loss is without effect."""
    planned = plan(name, scale=scale, data=source, corpus=corpus)
    assert planned.runs
    for run in planned.runs.values():
        spec = training_spec(run.spec)
        check_combination(spec.loss)
        named = {"dataset_id": "ds_a", "model_name": "paper", "loss": loss_values(spec.loss)}
        stored = json.loads(json.dumps(run.spec)) | named
        assert TrainJob.from_json(stored).training.loss == spec.loss
        assert run.data in planned.datasets


@pytest.mark.parametrize("name", PAPERS)
def test_a_claim_and_a_printed_number_have_a_place(name: str) -> None:
    """Printed numbers, references of tests and claims name rows and columns that their table has."""
    for table in PAPERS[name].tables:
        places = {(entry.row, entry.column) for entry in table.entries}
        assert len(places) == len(table.entries)
        assert {row for row, _ in places} <= set(table.rows)
        assert {column for _, column in places} <= set(table.columns)
        for rows in table.printed.values():
            assert {(row, column) for row, columns in rows.items() for column in columns} <= places
        for claim in table.claims:
            assert _places(claim.rule) <= places
        if table.significance:
            assert set(table.significance.reference.values()) <= set(table.rows)


def _places(rule: Rule) -> set[Place]:
    pairs: list[Pair] = [
        *getattr(rule, "pairs", ()),
        *([rule.pair] if isinstance(rule, Reaches) else ()),
        *([rule.narrow, rule.wide] if isinstance(rule, Narrower) else ()),
    ]
    return {place for pair in pairs for place in pair} | set(getattr(rule, "places", ()))


def test_tables_share_trainings() -> None:
    """Tables 5 and 6 and both figures of 2023 need no more than the 48 models of table 5."""
    one, all_tables = plan("lambda-ex-2023", ["table-5"]), plan("lambda-ex-2023")
    assert set(one.runs) == set(all_tables.runs)
    assert len(one.runs) == 48


def test_a_digest_follows_what_decides_the_model() -> None:
    """Metrics that are only measured leave it alone; the loss and the metric that selects change it."""
    spec: dict[str, Any] = {"loss": {"name": "mse"}, "hyperparameters": {}, "metrics": ["ndcg@5"]}
    same = spec | {"metrics": ["ndcg@5", "ndcg@10"], "diagnostics": {"interval": 5}}
    assert spec_digest(spec, "main") == spec_digest(same, "main")
    others: tuple[dict[str, Any], ...] = (
        {"loss": {"name": "ranknet"}},
        {"metrics": ["ndcg@10"]},
        {"seed": 2},
    )
    assert len({spec_digest(spec | other, "main") for other in ({}, *others)}) == 4
    assert spec_digest(spec, "main") != spec_digest(spec, "other")


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"paper": "unknown"}, "/paper"),
        ({"tables": ["table-9"]}, "/tables/0"),
        ({"scale": "large"}, "/scale"),
        ({"data": "clicks"}, "/data"),
        ({"corpus": "OHSUMED"}, "/corpus"),
    ],
)
def test_an_unknown_choice_is_named(arguments: dict[str, Any], pointer: str) -> None:
    """Errors point at the argument."""
    with pytest.raises(InvalidInput) as raised:
        plan(**{"paper": "lambda-ex-2023", **arguments})
    assert raised.value.problems[0].pointer == pointer
