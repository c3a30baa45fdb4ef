"""The catalogue of losses, scorers and metrics."""

from typing import Any

import pytest

from core.diagnostics import DIAGNOSTICS
from core.losses import LOSSES, make_loss
from core.metrics import METRICS, PRESETS, conventions, parse_metric
from core.parameters import parameters_of
from core.scorers import SCORERS, make_scorer
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded


def _items(client: TestClient, noun: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"/v1/{noun}").json()["items"]
    return items


def test_every_loss_is_listed_with_its_hyperparameters(client: TestClient) -> None:
    """The listed defaults create the loss."""
    items = _items(client, "losses")
    assert [item["name"] for item in items] == list(LOSSES)
    for item in items:
        defaults = {parameter["name"]: parameter["default"] for parameter in item["parameters"]}
        assert make_loss(item["name"], **defaults) == make_loss(item["name"])
        assert all(item[field] for field in ("summary", "formula", "source", "choose"))
        assert [p["name"] for p in item["parameters"]] == [
            p.name for p in parameters_of(LOSSES[item["name"]])
        ]


def test_bounds_are_listed_as_declared(client: TestClient) -> None:
    """A form can be built from the catalogue alone."""
    (loss,) = [item for item in _items(client, "losses") if item["name"] == "lambdarank"]
    parameters = {parameter["name"]: parameter for parameter in loss["parameters"]}
    sigma, level = parameters["sigma"], parameters["truncation_level"]
    assert (sigma["type"], sigma["optional"], sigma["minimum"], sigma["exclusive_minimum"]) == (
        "number",
        False,
        0,
        True,
    )
    assert (level["type"], level["optional"], level["minimum"], level["exclusive_minimum"]) == (
        "integer",
        True,
        1,
        False,
    )


def test_every_metric_is_listed_with_its_contract(client: TestClient) -> None:
    """The example spellings are accepted."""
    items = _items(client, "metrics")
    assert [item["name"] for item in items] == list(METRICS)
    for item in items:
        assert all(type(parse_metric(spelling)) is METRICS[item["name"]] for spelling in item["examples"])
        assert item["contract"] == parse_metric(item["name"]).contract()
        assert item["conventions"] == list(item["contract"])
        for theirs in filter(None, (item["trec_eval"], item["ir_measures"])):
            assert type(parse_metric(theirs)) is METRICS[item["name"]]


def test_presets_are_listed_with_their_conventions(client: TestClient) -> None:
    """Conventions built from a listed preset equal those of the library."""
    presets = client.get("/v1/metrics").json()["presets"]
    assert {name: conventions(listed) for name, listed in presets.items()} == PRESETS


def test_every_diagnostic_is_listed(client: TestClient) -> None:
    """Each diagnostic has a title, a summary, a source and a unit."""
    listed = client.get("/v1/metrics").json()["diagnostics"]
    assert [diagnostic["name"] for diagnostic in listed] == list(DIAGNOSTICS)
    assert all(diagnostic[part] for diagnostic in listed for part in ("title", "summary", "source", "unit"))


def test_every_scorer_is_listed_with_its_hyperparameters(client: TestClient) -> None:
    """The listed defaults create the scorer; the list has no hyperparameters of trees."""
    items = _items(client, "scorers")
    assert [item["kind"] for item in items] == list(SCORERS)
    for item in items:
        defaults = {parameter["name"]: parameter["default"] for parameter in item["parameters"]}
        request = {"kind": item["kind"]} | ({"models": ["web:1"]} if item["kind"] == "sum" else {})
        scorer = make_scorer(defaults | request)
        assert scorer == make_scorer(request)
        assert (item["is_network"], item["summary"]) == (scorer.is_network, scorer.summary)
    (trees,) = [item for item in items if item["kind"] == "trees"]
    assert (trees["is_network"], trees["parameters"]) == (False, [])
