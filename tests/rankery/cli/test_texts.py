"""Values of options on the command line."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from core.data.trec import write_run
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.papers import numbers_of
from rankery.cli.rank import trec_run
from rankery.cli.served_events import read_events
from rankery.cli.texts import NotUnderstood, grid, json_object, object_of_file, settings, tags_of
from rankery.cli.trainings import model_name_of
from rankery.client.reading import json_body
from rankery.errors import FileUnusable, InvalidArgument
from rankery.grids import points


def test_settings_are_json_where_they_can_be() -> None:
    """Numbers, lists and words are parsed without quotes."""
    texts = ["mu=5", "pair_selection=random", "gain=[0, 1, 3]", "extra_trees=true", "path=a=b"]
    assert settings(texts, "--set") == {
        "mu": 5,
        "pair_selection": "random",
        "gain": [0, 1, 3],
        "extra_trees": True,
        "path": "a=b",
    }
    assert tags_of(["team=1"], "--tag") == {"team": "1"}


def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    """JSON is refused where Python's parser, or its writer of JSON, would end in a RecursionError."""
    path, deep = tmp_path / "deep.json", "[" * 100_000
    path.write_text(deep)
    with pytest.raises(NotUnderstood, match=r"^--columns is not valid JSON \(it is nested too deeply\)"):
        json_object(deep, "--columns")
    with pytest.raises(FileUnusable, match=r"^deep\.json is not valid JSON: it is nested too deeply"):
        object_of_file(path, "{}")
    with pytest.raises(FileUnusable, match=r"^deep\.json, line 1: invalid JSON: it is nested too deeply"):
        read_events(path)
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidArgument, match="nested too deeply"):
        json_body({"tags": nested})
    itself: dict[str, Any] = {}
    itself["tags"] = itself
    with pytest.raises(InvalidArgument, match="Circular reference"):
        json_body(itself)


@pytest.mark.parametrize("texts", [["mu"], ["=5"], ["mu="], ["mu=5", "mu=6"]])
def test_invalid_settings_are_refused(texts: list[str]) -> None:
    """The error names the option."""
    with pytest.raises(NotUnderstood, match=r"^--set "):
        settings(texts, "--set")


def test_a_grid_goes_through_every_combination() -> None:
    """A grid varies hyperparameters, the loss and its options, and keeps all other values."""
    job: dict[str, Any] = {"loss": {"name": "mse"}, "hyperparameters": {"seed": 1}}
    values = grid(["num_leaves=31,63", "loss=lambdarank,ndcg-loss2++", "loss.sigma=2"], "--grid")
    combinations = [(one["hyperparameters"], one["loss"]) for one in points(job, values)]
    assert combinations == [
        ({"seed": 1, "num_leaves": leaves}, {"name": loss, "sigma": 2})
        for leaves in (31, 63)
        for loss in ("lambdarank", "ndcg-loss2++")
    ]
    assert list(points(job, {})) == [job]


def test_a_grid_goes_through_seeds_and_lists() -> None:
    """A seed is that of the job; commas in brackets and quotes belong to a value."""
    texts = ["seed=1,2", "loss.gain=[0,1,3],[0, 1, 7]", 'loss.name="a,b",c']
    values = grid(texts, "--grid")
    assert values == {"seed": [1, 2], "loss.gain": [[0, 1, 3], [0, 1, 7]], "loss.name": ["a,b", "c"]}
    del values["loss.name"]
    combinations = [
        (one["seed"], one["loss"]["gain"], one["hyperparameters"])
        for one in points({"seed": 0, "loss": {"name": "lambdarank"}, "hyperparameters": {}}, values)
    ]
    assert combinations == [(seed, gain, {}) for seed in (1, 2) for gain in ([0, 1, 3], [0, 1, 7])]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("loss.gain=[0,1", "has an unclosed bracket or quote"),
        ('loss.pair_selection="a,b', "has an unclosed bracket or quote"),
        ("seed=1,,2", "has an empty value between commas"),
        ("seed=1,2,", "has an empty value between commas or at the end"),
        ("seed=1,2,1", "lists 1 twice"),
    ],
)
def test_invalid_grids_are_refused(text: str, sentence: str) -> None:
    """The error has the reason."""
    with pytest.raises(NotUnderstood, match=sentence):
        grid([text], "--grid")


@pytest.mark.parametrize("text", ["", "a", "-2", "3-1", "1,,2", "1-99999999999", "9" * 5000])
def test_invalid_numbers_of_folds_are_refused(text: str) -> None:
    """A range that ends before it begins has no numbers."""
    with pytest.raises(WrongUsage, match=r"--folds .*: write numbers like 1-5 or 1,3"):
        numbers_of(text)


@pytest.mark.parametrize("text", ["1-21", "1-9999", ",".join(["1"] * 21)])
def test_too_many_folds_are_refused(text: str) -> None:
    """An experiment has at most 20 folds."""
    with pytest.raises(WrongUsage, match="at most 20 folds"):
        numbers_of(text)


@pytest.mark.parametrize(
    ("data", "name"),
    [("data/MSLR Fold1.txt.gz", "mslr-fold1"), ("ds_01k9", "ds_01k9"), ("_.csv", "model"), ("ä", "model")],
)
def test_a_model_is_called_after_its_data(data: str, name: str) -> None:
    """The default name of a model has only allowed characters."""
    assert model_name_of(data) == name


def test_the_values_of_a_grid_are_tags() -> None:
    """The values are added to the job's tags; a single job gets none."""
    job = {"tags": {"team": "search"}, "loss": {"name": "lambdarank"}, "hyperparameters": {}}
    grid: dict[str, list[Any]] = {"loss": ["listnet"], "loss.gain": [[0, 1, 3]], "num_leaves": [31]}
    (job_of_point,) = points(job, grid)
    assert job_of_point["tags"] == {
        "team": "search",
        "loss": "listnet",
        "loss.gain": "[0, 1, 3]",
        "num_leaves": "31",
    }
    assert list(points({"loss": {}}, {})) == [{"loss": {}}]


def test_a_run_has_no_ties_in_float32() -> None:
    """trec_eval reads scores as float32; the printed run keeps the order as the service's run does."""
    scores = [2.0**130, 2.0**130, 1.0 + 1e-9, 1.0, 1.0, 1e-46, 0.0, -0.1, -0.1 - 1e-12, -(2.0**130)]
    rows = [(f"d {rank}", rank, score) for rank, score in enumerate(scores, 1)]
    ranking = [{"id": name, "rank": rank, "score": score} for name, rank, score in rows]
    text = trec_run([{"id": "q", "ranking": ranking}], "web:1", is_interleaved=False)
    found = [np.float32(line.split()[4]) for line in text.splitlines()]
    assert all(above > below for above, below in pairwise(found))
    columns = {"query_id": ["q"] * len(rows), "document_id": [name for name, _, _ in rows]}
    inside = {"rank": [rank for _, rank, _ in rows], "score": scores}
    ours = text.splitlines()[2:-1]
    assert ours == "".join(write_run([pa.record_batch(columns | inside)], "rankery-web-1")).splitlines()[2:-1]
