"""The parity report: faithful exports have no differences, and every change of an export is found."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, read_dataset
from core.data.feature_alignment import align_features
from core.errors import ModelError
from core.export import TREE_FORMATS, Export, ExportOptions, export_model, parity
from core.export.ranking import ndcg_at_10
from core.export.tree_target import scores_of
from core.metrics import parse_metric
from core.scoring.model_text import ModelText
from core.training import train, training_spec
from tests.core.export import engines
from tests.core.export.models import N_FEATURES, documents, expected, export_trees, special_forest, trained
from tests.core.export.test_engines import INTERPRETED, engines_of, rows_near

NAMES = tuple(f"f{i}" for i in range(N_FEATURES))


def judged(seed: int = 7, *, missing: bool = False) -> RankingDataset:
    """Return drawn documents with random labels."""
    rows = documents(seed, 300, missing=missing)
    labels = np.random.default_rng(seed).integers(5, size=len(rows))
    return RankingDataset.from_arrays(rows, labels, np.arange(0, 301, 10), feature_names=NAMES)


def tampered(export: Export, change: Callable[[dict[str, Any]], None]) -> Export:
    """Change every split of an export in Vespa's JSON."""

    def walk(node: dict[str, Any]) -> None:
        if "left_child" in node:
            change(node)
            walk(node["left_child"])
            walk(node["right_child"])

    model = json.loads(export.content)
    for tree in model["tree_info"]:
        walk(tree["tree_structure"])
    return replace(export, content=json.dumps(model).encode())


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("format", TREE_FORMATS)
def test_no_decision_differs(format: str, missing: bool) -> None:
    """Only the splits differ that Solr cannot express with its slack of 1e-6, and they are counted."""
    options = ExportOptions(never_missing=missing and format == "ranklib")
    export = export_model(trained(missing=missing), format, NAMES, options=options)
    report = parity(export, judged(missing=missing and format != "ranklib"))
    for engine in report.engines:
        data, neighbours = engine.data, engine.neighbours
        assert data is not None
        assert (data.documents, data.queries, data.leaves) == (300, 30, 300 * 12)
        assert (data.differing_leaves, data.swapped_pairs, data.ndcg_at_10_difference) == (0, 0, 0.0)
        assert neighbours.splits == 12 * 11
        residue = engine.slack_residue.splits if engine.slack_residue else 0
        assert neighbours.differing_splits == residue
        assert (residue > 0) == (format == "solr")
        assert data.largest_score_difference <= (1e-5 if "float32" in engine.arithmetic else 0.0)
    assert report.exact == (format != "solr")


@pytest.mark.parametrize(("format", "has_note"), [("onnx", True), ("solr", True), ("c", False)])
def test_an_engine_that_rounds_the_features_of_imported_trees_is_named(format: str, has_note: bool) -> None:
    """Imported trees compare float64 values, of which float32 documents show nothing."""
    imported = parity(export_model(trained(), format, NAMES, precision="float64"))
    own = parity(export_model(trained(), format, NAMES))
    assert any("compares features as float64" in note for note in imported.notes) == has_note
    assert not any("compares features as float64" in note for note in own.notes)


def test_thresholds_that_solr_cannot_express_are_reported() -> None:
    """The report has their number, and the width of the longest range of values with a wrong decision."""
    report = parity(export_model(trained(), "solr", NAMES))
    (engine,) = report.engines
    assert engine.slack_residue is not None
    assert f"At {engine.slack_residue.splits} splits" in report.notes[0]
    assert 0.0 < engine.slack_residue.widest_range < 1e-12
    assert {difference.lightgbm for difference in engine.neighbours.examples} <= {"left", "right"}
    for difference in engine.neighbours.examples:
        assert abs(float(difference.value)) < 1e-6


def test_a_copied_default_direction_is_found() -> None:
    """LightGBM writes default_left where nothing was missing; engines would obey it."""
    text = trained()
    naive = tampered(export_model(text, "vespa", NAMES), lambda node: node.update(default_left=True))
    data = judged(missing=True)
    report = parity(naive, data)
    score = engines.vespa(naive.content, list(NAMES), single=True)
    wanted = expected(text, data.matrix.astype(np.float64), np.float32, np.float64)
    differing = sum(score(row) != want for row, want in zip(data.matrix.tolist(), wanted, strict=True))
    over_data = report.engines[0].data
    assert over_data is not None
    assert over_data.differing_documents == differing > 30
    assert over_data.swapped_pairs > 0
    assert over_data.largest_ndcg_at_10_difference != 0.0
    assert report.engines[0].neighbours.differing_splits > 0
    assert report.engines[0].neighbours.examples[0].value == "missing"
    assert not report.exact


def test_a_threshold_one_float_too_low_is_found() -> None:
    """Documents would hardly ever show the difference; neighbours of thresholds do."""

    def one_below(node: dict[str, Any]) -> None:
        below = np.nextafter(np.float32(node["threshold"]), np.float32(-np.inf))
        node["threshold"] = float(below)  # as if `<=` were `<`

    naive = tampered(export_model(trained(), "vespa", NAMES), one_below)
    report = parity(naive)
    for engine in report.engines:
        assert engine.data is None
        assert engine.neighbours.differing_splits == engine.neighbours.splits == 12 * 11
    assert not report.exact


def test_leaves_of_the_opposite_sign_are_found() -> None:
    """The splits are unchanged, but scores and rankings differ."""

    def upside_down(node: dict[str, Any]) -> None:
        for child in (node["left_child"], node["right_child"]):
            if "leaf_value" in child:
                child["leaf_value"] *= -1.0

    naive = tampered(export_model(trained(), "vespa", NAMES), upside_down)
    (data, _) = (engine.data for engine in parity(naive, judged()).engines)
    assert data is not None
    assert data.largest_score_difference > 1.0
    assert data.swapped_pairs > data.adjacent_pairs / 2
    assert data.ndcg_at_10_difference != 0.0


def test_scores_that_become_equal_are_counted() -> None:
    """Documents with equal scores in the engine have no defined order there."""

    def flat(node: dict[str, Any]) -> None:
        for child in (node["left_child"], node["right_child"]):
            if "leaf_value" in child:
                child["leaf_value"] = 0.5

    naive = tampered(export_model(trained(), "vespa", NAMES), flat)
    (data, _) = (engine.data for engine in parity(naive, judged()).engines)
    assert data is not None
    assert data.tied_pairs == data.adjacent_pairs > 0


def test_trees_of_another_shape_are_refused() -> None:
    """Such trees cannot be compared with the model at all."""

    def mirrored(node: dict[str, Any]) -> None:
        node["left_child"], node["right_child"] = node["right_child"], node["left_child"]

    naive = tampered(export_model(trained(), "vespa", NAMES), mirrored)
    with pytest.raises(ModelError, match="differ from the trees of the model"):
        parity(naive)


def test_a_shift_of_all_scores_is_not_a_difference() -> None:
    """The shift is reported, and the raised scores are compared."""
    export = export_model(trained(), "elasticsearch-xgboost", NAMES, options=ExportOptions(score_shift=True))
    report = parity(export, judged())
    assert report.score_shift == export.source.shift
    assert report.trees == 13
    assert report.exact
    data = report.engines[0].data
    assert data is not None
    assert data.largest_score_difference < 1e-5


@pytest.mark.long
@pytest.mark.parametrize("format", [name for name in INTERPRETED if name != "python"])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_evaluator_scores_as_the_engine_and_as_lightgbm(format: str, seed: int) -> None:
    """This holds for any thresholds, for values beside them, and for infinite values."""
    text = special_forest(seed)
    options = ExportOptions(never_missing=format == "ranklib")
    export = export_trees(text, format, options=options)
    rows = rows_near(text, seed, float64=False, missing=True, infinite=True)
    for (score, _), arithmetic in zip(engines_of(export), export.target.arithmetics(options), strict=True):
        loaded = arithmetic.loaded(export.written)
        scores, engine_scores, _ = scores_of(rows, export.source.nodes, loaded, arithmetic)
        assert scores.tolist() == expected(text, rows, np.float64, np.float64)
        assert engine_scores.tolist() == score(rows)


@pytest.mark.parametrize("format", ["vespa", "opensearch-xgboost", "elastic-learning-to-rank"])
def test_infinite_thresholds_in_json_are_reported(format: str) -> None:
    """An infinite threshold separates missing values from others.

    With the JSON of an engine, infinite values go the way of missing ones; with LightGBM, of the others.
    """
    text = ModelText.read(trained(missing=True))
    (tree, *_) = text.trees
    tree.thresholds[0], tree.decisions[0] = np.inf, 8
    data = judged()
    export = export_model(text.write(), format, NAMES)
    assert parity(export, data).exact
    data.matrix[:7, tree.features[0]] = np.inf
    report = parity(export, data)
    assert report.engines[0].data is not None
    assert report.engines[0].data.differing_documents == 7
    assert "by an infinite threshold" in report.notes[0]


def test_ndcg_is_that_of_the_metrics() -> None:
    """The rows include ties, queries without a relevant document, and documents that were not judged."""
    random = np.random.default_rng(0)
    boundaries = np.cumsum([0, *random.integers(1, 30, size=200)])
    labels = random.integers(-1, 5, size=boundaries[-1]).astype(np.float32)
    labels[:200] = random.choice([0.0, np.nan], size=200)
    scores = random.normal(size=len(labels)).round(1)
    measured = parse_metric("ndcg@10")(scores, np.where(labels > 0, labels, 0.0), boundaries)
    np.testing.assert_allclose(
        ndcg_at_10(scores, labels, boundaries), measured[~np.isnan(measured)], rtol=1e-12
    )


def test_a_model_with_categories_is_compared_byte_by_byte() -> None:
    """Only LightGBM's own format can express categorical splits."""
    import lightgbm

    rows = documents(1)
    rows[:, 3] = np.abs(rows[:, 3])
    dataset = lightgbm.Dataset(rows, rows[:, 3] % 2, categorical_feature=[3])
    parameters = {"objective": "regression", "num_threads": 1, "verbosity": -1, "min_data_per_group": 1}
    text = str(lightgbm.train(parameters, dataset, num_boost_round=2).model_to_string())
    report = parity(export_model(text, "lightgbm", NAMES))
    assert report.exact
    assert report.engines == ()
    assert "categorical splits" in report.notes[-1]
    for name in TREE_FORMATS:
        if name != "lightgbm":
            with pytest.raises(ModelError, match="categorical splits"):
                export_model(text, name, NAMES)


def test_no_decision_differs_on_real_data(shared_data: Path) -> None:
    """A model of LightGBM's example has the same leaves in every format; only Solr's slack is left."""
    folder = shared_data / "lightgbm-rank"
    training, test = (read_dataset(folder / f"{part}.letor.txt") for part in ("train", "test"))
    test = align_features(test, training.feature_names)
    values = {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 30, "num_leaves": 31}}
    text = train(training_spec(values), training).model_text
    for name in TREE_FORMATS:
        report = parity(export_model(text, name, training.feature_names), test)
        for engine in report.engines:
            assert engine.data is not None
            assert engine.data.differing_leaves == 0
            assert engine.data.swapped_pairs == 0
            residue = engine.slack_residue.splits if engine.slack_residue else 0
            assert engine.neighbours.differing_splits == residue
