"""Networks on the command line: options of trainings and studies, and output."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from core.scorers import SCORERS
from rankery.cli import names
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.texts import NotUnderstood, grid
from rankery.cli.training_options import ScorerChoice
from rankery.cli.tune import search_dimension
from rankery.client import Client, Scorer, ScorerKind
from rankery.client.arguments import search_space_field
from rankery.embedded.stack import EmbeddedStack
from rankery.grids import points
from tests.rankery.cli.commands import JUDGED, Done, run

NET = ("--scorer", "mlp", "--hidden", "8,4", "--epochs", "3", "--metric", "ndcg@5")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged file."""
    path = tmp_path_factory.mktemp("files") / "train.txt"
    path.write_text(JUDGED)
    return path


def rankery(stack: EmbeddedStack, *arguments: str | Path) -> Done:
    """Run a command on the shared service."""
    return run(*arguments, "--data-dir", stack.data_dir, NO_COLOR="1")


def test_the_kinds_are_those_of_the_service() -> None:
    """The client's types have the service's kinds; completion offers kinds that train from a file alone."""
    assert set(get_args(ScorerKind)) == set(SCORERS)
    assert set(names.SCORERS) == set(SCORERS) - {"sum"}


@pytest.mark.parametrize(
    ("options", "scorer", "hyperparameters"),
    [
        ((None, None, None, {"num_leaves": 7}), None, {"num_leaves": 7}),
        (("linear", None, 9, {}), {"kind": "linear", "epochs": 9}, {}),
        ((None, "16,8", None, {}), {"kind": "mlp", "hidden": [16, 8]}, {}),
        (("mlp", None, None, {"scorer.dropout": 0.1}), {"kind": "mlp", "dropout": 0.1}, {}),
        (("mlp", None, None, {"learning_rate": 0.1}), {"kind": "mlp", "learning_rate": 0.1}, {}),
    ],
)
def test_options_choose_the_scorer(
    options: tuple[Any, ...], scorer: dict[str, Any] | None, hyperparameters: dict[str, Any]
) -> None:
    """--hidden alone selects a network, and settings belong to the selected scorer."""
    assert ScorerChoice.of(*options) == ScorerChoice(scorer, hyperparameters)


@pytest.mark.parametrize(
    "idle", [("trees", "8", None, {}), (None, None, 5, {}), (None, None, None, {"scorer.x": 1})]
)
def test_trees_have_no_options_of_networks(idle: tuple[Any, ...]) -> None:
    """Options without effect are refused and named."""
    with pytest.raises(WrongUsage, match="the scorer is trees"):
        ScorerChoice.of(*idle)


@pytest.mark.parametrize("options", [("forest", None, None, {}), ("mlp", "wide", None, {})])
def test_unknown_kinds_and_units_are_refused(options: tuple[Any, ...]) -> None:
    """The error names the option, before a file is uploaded."""
    with pytest.raises(NotUnderstood, match=r"--scorer|--hidden"):
        ScorerChoice.of(*options)


def test_a_grid_varies_the_scorer_and_its_options() -> None:
    """Names without a prefix belong to the network if one is trained; each kind starts with its defaults."""
    net: dict[str, Any] = {"loss": {"name": "mse"}, "scorer": {"kind": "mlp"}, "hyperparameters": {}}
    values = grid(["hidden=[64],[128,64]", "scorer.dropout=0.1"], "--grid")
    assert [job["scorer"] for job in points(net, values)] == [
        {"kind": "mlp", "hidden": [64], "dropout": 0.1},
        {"kind": "mlp", "hidden": [128, 64], "dropout": 0.1},
    ]
    trees: dict[str, Any] = {"loss": {"name": "mse"}, "hyperparameters": {"auto": True}}
    kinds = points(trees, grid(["scorer=trees,linear"], "--grid"))
    assert [(job["scorer"], job["hyperparameters"]) for job in kinds] == [
        (None, {"auto": True}),
        ({"kind": "linear"}, {}),
    ]


def test_a_search_space_may_contain_parameters_of_the_scorer() -> None:
    """Layers in brackets are choices; names of a network's settings belong to the scorer."""
    layers = {"type": "choice", "choices": [[64], [128, 64]]}
    assert search_dimension("scorer.hidden=[64],[128,64]") == ("/scorer/hidden", layers)
    assert search_dimension("hidden=[64],[128,64]", is_network=True) == ("/scorer/hidden", layers)
    space = search_space_field({"dropout": (0.0, 0.5), "/loss/sigma": (1, 2)}, is_network=True)
    assert list(space) == ["/scorer/dropout", "/loss/sigma"]


def test_a_network_is_trained_and_shown(stack: EmbeddedStack, data: Path) -> None:
    """The job has the options as typed, and epochs, kind and settings are printed."""
    done = rankery(stack, "train", data, "--name", "net", *NET, "--set", "scorer.dropout=0.1")
    assert done.code == 0, done.errors
    assert "net:1: " in done.output
    assert re.search(r"\d epochs? in ", done.output)
    with Client(stack.url) as client:
        job = next(iter(client.jobs(kind="train")))
        again = client.train(
            "net", job.spec["dataset_id"], "mse", scorer={"kind": "mlp", "hidden": [4], "epochs": 2}
        ).wait()
        members: Scorer = {"kind": "sum", "models": ["net:1", "net:2"], "weights": [1.0, 0.5]}
        both = client.train("both-nets", job.spec["dataset_id"], None, scorer=members).wait()
        sum_model = both.model()
        card = client.model("net:1").card().facts
        straight = client.train("line", job.spec["dataset_id"], "mse", scorer="linear", validation=0.2).wait()
    chosen = {"kind": "mlp", "hidden": [8, 4], "epochs": 3, "dropout": 0.1}
    assert chosen.items() <= job.spec["scorer"].items()
    assert job.spec["hyperparameters"] == {}
    assert (card["kind"], "epochs" in card, "trees" in card) == ("mlp", True, False)
    assert again.spec["scorer"]["hidden"] == [4]
    assert sum_model.kind == "sum"
    assert sum_model.card().facts["members"] == "1 × net:1, 0.5 × net:2"
    of_sum = rankery(stack, "models", "show", "both-nets").output
    assert "1 × net:1, 0.5 × net:2" in of_sum
    assert "scorer" not in of_sum
    assert "hyperparameters" not in of_sum
    assert straight.spec["scorer"]["kind"] == "linear"

    shown = rankery(stack, "models", "show", "net:1").output.splitlines()
    properties = dict(line.split(maxsplit=1) for line in shown if len(line.split()) > 1)
    assert properties["kind"] == "mlp"
    assert properties["scorer"].startswith("epochs 3, ")
    assert "hidden [8, 4]" in " ".join(shown)
    assert "epochs" in properties
    listed = rankery(stack, "models", "list").output
    assert [row[1] for row in map(str.split, listed.splitlines()) if row[:1] == ["line:1"]] == ["linear"]
    assert [row[1:-1] for row in map(str.split, listed.splitlines()) if row[:1] == ["both-nets:1"]] == [
        ["sum"]
    ]


def test_trees_and_networks_are_in_one_grid(stack: EmbeddedStack, data: Path) -> None:
    """Kinds are tags and columns of the grid, and iterations are labelled as trees or epochs."""
    short = ("--metric", "ndcg@5", "--name", "both")
    done = rankery(stack, "train", data, *short, "--grid", "scorer=trees,linear")
    assert done.code == 0, done.errors
    assert "trees or epochs" in done.output
    rows = [line.split() for line in done.output.splitlines()]
    kinds = [row[1] for row in rows if row[:1] in (["both:1"], ["both:2"]) and row[1] != "is"]
    assert kinds == ["trees", "linear"]


@pytest.mark.slow
def test_a_network_is_exported_with_a_parity_report(stack: EmbeddedStack, data: Path, tmp_path: Path) -> None:
    """The report compares scores, formats depend on the kind of model, and a sum is exported or distilled."""
    assert rankery(stack, "train", data, "--name", "shop-net", *NET).code == 0
    exported = rankery(stack, "export", "shop-net", "--format", "c", "-o", tmp_path / "shop.c")
    assert exported.code == 0, exported.errors
    assert "Every score equals the model's, up to rounding." in exported.output
    assert "0 of 512 beyond rounding" in exported.output
    assert "leaves" not in exported.output
    formats = rankery(stack, "export", "--list", "--scorer", "mlp", "--json").document
    assert [one["name"] for one in formats] == ["vespa", "solr", "onnx", "c", "python", "safetensors"]
    with Client(stack.url) as client:
        dataset = next(iter(client.jobs(kind="train"))).spec["dataset_id"]
        members: Scorer = {"kind": "sum", "models": ["shop-net", "shop-net"], "weights": [1.0, 0.5]}
        client.train("pair", dataset, None, scorer=members).wait()
    pair = rankery(stack, "export", "pair", "--format", "c", "-o", tmp_path / "pair.c")
    assert "0 of 512 beyond rounding" in pair.output, pair.errors
    stored = rankery(stack, "models", "download", "pair", tmp_path / "pair.safetensors", "--json")
    assert stored.document["format"] == "safetensors"
    distilled = rankery(stack, "models", "distil", "pair", "--leaves", "4", "--iterations", "20")
    assert distilled.code == 0, distilled.errors
    assert "pair-distilled has ndcg@" in " ".join(distilled.output.split())
    forest = rankery(stack, "export", "pair-distilled", "--format", "ranklib", "-o", tmp_path / "pair.xml")
    assert "Every decision equals LightGBM's." in forest.output, forest.errors
