"""Plans: the trainings for a paper's tables."""

import hashlib
import json
from functools import cache
from typing import Any

import pytest

from core.errors import InvalidInput
from core.experiments import PAPERS, plan
from core.experiments.paper import Scale
from core.experiments.plan import spec_digest
from core.experiments.rules import CellKey, Narrower, Pair, Reaches, Rule
from core.jobs.train import TrainJob
from core.losses import check_combination, loss_values
from core.scorers import NetworkScorer, make_scorer
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


@pytest.mark.long
@pytest.mark.parametrize(("name", "scale", "source", "corpus"), PLANS)
def test_every_specification_is_accepted(name: str, scale: Scale, source: str, corpus: str | None) -> None:
    """A training job takes every specification, and no hyperparameter of its loss is without effect."""
    planned = plan(name, scale=scale, data=source, corpus=corpus)
    assert planned.runs
    for run in planned.runs.values():
        _check_accepted(json.dumps(run.spec))


@cache
def _check_accepted(content: str) -> None:
    """Check a specification once: plans of one paper share most of them."""
    content_spec = json.loads(content)
    spec = training_spec(content_spec)
    check_combination(spec.loss)
    named = {"dataset_id": "ds_a", "model_name": "paper", "loss": loss_values(spec.loss)}
    assert TrainJob.from_json(content_spec | named).training.loss == spec.loss


@pytest.mark.parametrize("name", PAPERS)
def test_a_claim_and_a_printed_number_have_a_place(name: str) -> None:
    """Printed numbers, references of tests and claims name rows and columns that their table has."""
    for table in PAPERS[name].tables:
        cell_keys = {(entry.row, entry.column) for entry in table.entries}
        assert len(cell_keys) == len(table.entries)
        assert {row for row, _ in cell_keys} <= set(table.rows)
        assert {column for _, column in cell_keys} <= set(table.columns)
        for rows in table.printed.values():
            assert {(row, column) for row, columns in rows.items() for column in columns} <= cell_keys
        for claim in table.claims:
            assert _cell_keys(claim.rule) <= cell_keys
        if table.significance:
            assert set(table.significance.reference.values()) <= set(table.rows)


def _cell_keys(rule: Rule) -> set[CellKey]:
    pairs: list[Pair] = [
        *getattr(rule, "pairs", ()),
        *([rule.pair] if isinstance(rule, Reaches) else ()),
        *([rule.narrow, rule.wide] if isinstance(rule, Narrower) else ()),
    ]
    return {cell_key for pair in pairs for cell_key in pair} | set(getattr(rule, "cell_keys", ()))


def test_tables_share_trainings() -> None:
    """Tables 5 and 6 and both figures of 2023 need no more than the 48 models of table 5."""
    one, all_tables = plan("lambda-ex-2023", ["table-5"]), plan("lambda-ex-2023")
    assert set(one.runs) == set(all_tables.runs)
    assert len(one.runs) == 48


def test_a_digest_depends_on_the_options_that_change_the_model() -> None:
    """Metrics that are only measured do not change the digest; the loss and the selecting metric do."""
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


# SHA-256 of the sorted digests of all runs, as the release before networks planned them.
DIGESTS = {
    ("lambdaloss-2018", "quick"): "d93bd79003132a5ff7153138072ee682a116f1cbee94137fc3eb31872a9b4cc6",
    ("lambdaloss-2018", "paper"): "e4add5e146848864b994178e2990a45ee44bf22781ec9d98a331f8f685066f17",
    ("softmax-cross-entropy-2019", "quick"): (
        "bbaaff51e2d587b0b9d4d0d0d119bd38a475235401b633df8f0979a082724c75"
    ),
    ("softmax-cross-entropy-2019", "paper"): (
        "91ab7e4abcf370af7e51b83c0af22b694569407519c976e7eff5ebb2cf26ec44"
    ),
    ("lambda-ex-2023", "quick"): "0fd5d705696f7b5afd6c9741d9bdfea1682deb555b0a5d808f30d5dbbb10b0bc",
    ("lambda-ex-2023", "paper"): "51365b0cc5f9c2c7741816117223b87818908d9591da0b97b2c3d292ae70f014",
}


@pytest.mark.parametrize(("name", "scale"), DIGESTS)
def test_trainings_of_trees_are_shared_with_earlier_releases(name: str, scale: Scale) -> None:
    """Digests are those of earlier releases, so that no finished training is run again."""
    runs = sorted(plan(name, scale=scale).runs)
    assert hashlib.sha256("".join(runs).encode()).hexdigest() == DIGESTS[name, scale]


def test_the_grid_of_a_network_changes_its_scorer() -> None:
    """Epochs are the protocol's, the paper's schedule is kept, and networks count no trees."""
    quick, whole = (plan("lambdarank-2006", ["figure-2"], scale) for scale in ("quick", "paper"))
    for planned, epochs, batch in ((quick, 100, 500), (whole, 300, 1)):
        nets = [run for run in planned.runs.values() if run.is_network]
        assert {run.iterations for run in nets} == {epochs}
        assert planned.epochs == epochs * len(nets)
        assert planned.trees == sum(run.iterations for run in planned.runs.values() if not run.is_network)
        for run in nets:
            scorer = make_scorer(run.spec["scorer"])
            assert isinstance(scorer, NetworkScorer)
            assert (scorer.optimizer, scorer.decay_on_rise, scorer.restart_epochs) == ("sgd", 0.8, 50)
            assert scorer.training_cost == ("loss" if run.spec["loss"]["name"] == "ranknet" else "metric")
            assert scorer.batch_documents == batch
            assert "early_stopping" not in run.spec
            assert run.spec["hyperparameters"] == {}
    hidden = [run.spec["scorer"].get("hidden") for run in whole.runs.values() if run.is_network]
    assert [10] in hidden
    assert None in hidden


def test_a_scorer_decides_the_digest() -> None:
    """Another learning rate of a network is another model; a shorter run is another number of epochs."""
    run = next(run for run in plan("ranking-measures-2009", ["table-1"]).runs.values())
    assert run.is_network
    other = {**run.spec, "scorer": {**run.spec["scorer"], "learning_rate": 0.5}}
    assert spec_digest(other, "main") != spec_digest(run.spec, "main")
    assert run.with_iterations(3).iterations == 3
    assert run.with_iterations(3).spec["loss"] == run.spec["loss"]


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
