"""Every format of sums, read by its engine, scores as the weighted sum of the members."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

from core.data import RankingDataset
from core.errors import InvalidInput, ModelError
from core.export import FORMATS, Export, ExportOptions, export_model, golden_vectors, parity
from core.export.parity_report import NetworkParityReport
from core.scorers import Member, Network, Sum, write_network, write_sum
from core.types import Float64Array
from tests.core.export import engines as code
from tests.core.export.models import trained
from tests.core.export.sums.vespa import vespa
from tests.core.export.test_engines import by_row, cc
from tests.core.inspection.forests import forest_of, stump
from tests.core.scorers.networks import plain_score, random_features, random_network
from tests.core.scoring.forests import random_model_text

__all__ = ["cc"]

TREES = trained(missing=True)
MODELS: list[str | Network] = [
    TREES,
    random_network(3, missing_indicators=True),
    random_network(4, (5, 3), activation="tanh", layer_norm=True, kind="rank-gauss", seed=2),
    random_network(4, log1p=True, seed=4),
    TREES,
]
# Members share features in different orders; some features belong to one member only.
FEATURES = ("abcde", "fbc", "gahc", "gahc", "edcba")
WEIGHTS = (0.25, -2.0, 1 / 3, 1e-3, 1.5)
NAMES = list("abcdefgh")


def content_of(model: str | Network) -> bytes:
    """Return the file of a member."""
    return write_network(model) if isinstance(model, Network) else model.encode()


SUM = Sum.of(
    [
        Member(f"m:{place}", content_of(model), tuple(features), weight)
        for place, (model, features, weight) in enumerate(zip(MODELS, FEATURES, WEIGHTS, strict=True))
    ]
)
Scores = Callable[[Float64Array], list[float]]


def expected(rows: Float64Array) -> Float64Array:
    """Return `Σ weight · score` by LightGBM and NumPy."""
    total = np.zeros(len(rows))
    for model, features, weight in zip(MODELS, FEATURES, WEIGHTS, strict=True):
        chosen = rows[:, [NAMES.index(name) for name in features]]
        if isinstance(model, Network):
            total += weight * plain_score(model, chosen)
        else:
            total += weight * np.asarray(lightgbm.Booster(model_str=model).predict(chosen, raw_score=True))
    return total


def exported(format: str, sum_model: Sum = SUM, **options: Any) -> Export:
    """Export a sum."""
    return export_model(write_sum(sum_model), format, None, "web-3", ExportOptions(**options))


def rows_of(seed: int, *, finite: bool = False) -> Float64Array:
    """Draw documents, some of whose features are missing, 0, huge or infinite."""
    rows = random_features(80, len(NAMES), seed, missing=0.2)
    rows[::7] = np.where(np.random.default_rng(seed).random(rows[::7].shape) < 0.3, 0.0, rows[::7])
    return np.where(np.isinf(rows) & finite, np.float32(0.5), rows).astype(np.float64)


def assert_scores(score: Scores, tolerance: float, *, finite: bool = False) -> None:
    """Compare an engine's scores with the expected ones."""
    rows = rows_of(1, finite=finite)
    np.testing.assert_allclose(score(rows), expected(rows), rtol=tolerance, atol=tolerance)


def test_python_scores_as_the_members() -> None:
    """Scores agree within 1e-12."""
    assert_scores(by_row(code.python(exported("python").content)), 1e-12)


@pytest.mark.usefixtures("cc")
def test_c_scores_as_the_members(tmp_path: Path) -> None:
    """Scores agree within 1e-12, and the compiler has no warning, since members have different names."""
    assert_scores(by_row(code.c(exported("c").content, tmp_path, "web_3")), 1e-12)


def test_onnx_scores_as_the_members() -> None:
    """Scores agree within float32, as trees have float32 leaves; without trees, within 1e-12."""
    assert_scores(lambda rows: code.onnx(exported("onnx").content)(rows).tolist(), 2e-6)
    networks = Sum.of([each for each in SUM.members if each.model.kind != "trees"])
    rows = rows_of(2)[:, : len(networks.feature_names)]
    scores = code.onnx(exported("onnx", networks).content)(rows)
    np.testing.assert_allclose(scores, networks.score(rows.astype(np.float32)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("single", "tolerance"), [(True, 2e-6), (False, 1e-12)])
def test_vespas_profile_scores_as_the_members(single: bool, tolerance: float) -> None:
    """Scores agree within float32 on content nodes, whose leaves are float32, and 1e-12 in containers."""
    export = exported("vespa")
    files = export.target.companions(export.source, export.content)
    assert list(files) == [f"models/web-3-{end}" for end in ("1.json", "3.onnx", "4.onnx", "5.json")]
    assert export.content.count(b"{") == export.content.count(b"}")
    assert_scores(by_row(vespa(export.content, files, NAMES, single=single)), tolerance, finite=True)


def test_functions_of_vespas_profile_differ_from_those_of_features() -> None:
    """Features may have the names that members would get."""
    names = ("web_3_1", "web_3_2_features", "x")
    members = [
        Member(f"m:{index}", content_of(model), names, 1.0)
        for index, model in enumerate((random_network(3), random_network(3, (4,))), start=1)
    ]
    functions = re.findall(rb"function (\w+)\(", exported("vespa", Sum.of(members)).content)
    assert sorted(functions) == [b"web_3_1", b"web_3_1_", b"web_3_2_features", b"web_3_2_features_", b"x"]


def test_members_round_features_as_in_training() -> None:
    """Imported trees read float64, others float32: 0.1 is above the threshold 0.1 when it was rounded."""
    text = forest_of(stump(0, 0.1, 1.0, 2.0), n_features=1).write().encode()
    both = Sum.of([Member("web:1", text, ("a",), 1.0), Member("imported:1", text, ("a",), 10.0, "float64")])
    assert code.python(exported("python", both).content)([0.1]) == 2.0 + 10.0
    assert code.python(exported("python", both).content)([1e300]) == 2.0 + 20.0
    for target, notes in (("python", 0), ("onnx", 1)):
        found = [note for note in parity(exported(target, both)).notes if "as float64" in note]
        assert len(found) == notes


@pytest.mark.parametrize("format", FORMATS["sum"])
def test_a_faithful_export_is_exact(format: str) -> None:
    """No score differs on documents, edge cases and the neighbours of all thresholds."""
    labels = np.random.default_rng(3).integers(5, size=200)
    features = random_features(200, len(NAMES), 3, missing=0.1)
    data = RankingDataset.from_arrays(features, labels, np.arange(0, 201, 10), feature_names=NAMES)
    export = exported(format)
    report = parity(export, data)
    assert isinstance(report, NetworkParityReport)
    assert (report.exact, report.scorer, report.trees) == (True, "sum", 24)
    for engine in report.engines:
        assert engine.neighbours.decisions > 1_000
        assert engine.data is not None
        assert (engine.data.documents, engine.data.swapped_pairs) == (200, 0)
    assert len(list(golden_vectors(export, data))) == len(list(golden_vectors(export))) == 48


@pytest.mark.parametrize(
    ("format", "pattern", "change"),
    [
        ("c", r"return -2\.0 \* score", "return -2.0000001 * score"),
        ("python", r"0\.3333333333333333", "0.33333333"),
        ("vespa", r"0\.001 \* ", "0.0010000001 * "),
        ("c", r"\b5, 1, 2$", "5, 2, 1"),
        ("c", r"(\{\d, )(-?\d+\.\d+)(, \d, \d+\})", r"\g<1>77.5\g<3>"),
    ],
)
def test_a_changed_file_is_found(format: str, pattern: str, change: str) -> None:
    """The report is not exact if a weight, the order of a member's features, or a threshold is changed."""
    export = exported(format)
    text = export.content.decode()
    changed = re.sub(pattern, change, text, count=1, flags=re.MULTILINE)
    assert changed != text
    assert not parity(replace(export, content=changed.encode())).exact


def test_a_lost_member_is_refused() -> None:
    """An export with fewer members than the sum is a `ModelError`."""
    export = exported("c")
    shorter = export.content[: export.content.index(b"/* Member 5 of the sum. */")]
    with pytest.raises(ModelError, match="number of members in the export differs"):
        parity(replace(export, content=shorter))


def test_linear_trees_share_features_with_a_network() -> None:
    """Infinite features of linear leaves have no finite score, so that they are left out of the parity."""
    random = np.random.default_rng(5)
    text = random_model_text(random, n_features=3, n_trees=5, max_leaves=8, linear=True)
    sum_model = Sum.of([SUM.members[1], Member("shop:2", text.encode(), tuple("fbx"), 1.0)])
    export = exported("safetensors", sum_model)
    assert parity(export).exact
    assert len(list(golden_vectors(export))) == 48


def test_the_error_of_a_member_that_cannot_be_exported_names_the_member() -> None:
    """Trees with categorical splits are exported as safetensors only; refused formats suggest distilling."""
    text = random_model_text(np.random.default_rng(5), n_features=3, n_trees=5, max_leaves=8)
    sum_model = Sum.of([SUM.members[1], Member("shop:2", text.encode(), tuple("xyz"), 1.0)])
    for name in set(FORMATS["sum"]) - {"safetensors"}:
        with pytest.raises(ModelError, match=r"member 'shop:2' of the sum: the model has categorical splits"):
            exported(name, sum_model)
    export = exported("safetensors", sum_model)
    assert export.content == write_sum(sum_model)
    assert parity(export).exact
    with pytest.raises(
        InvalidInput, match=r"solr cannot express a sum of models.*distil the sum into a forest"
    ):
        exported("solr")
