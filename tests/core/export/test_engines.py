"""Every exported format, evaluated as its engine does, reaches the leaves that LightGBM reaches."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.export import TREE_FORMATS, Export, ExportOptions, export_model
from core.export.nodes import Nodes
from core.scoring.model_text import ModelText
from core.types import Float64Array
from tests.core.export import engines
from tests.core.export.models import N_FEATURES, documents, expected, export_trees, special_forest, trained
from tests.core.scoring.forests import documents_near, thresholds_of
from tests.requirements import require_program

NAMES = [f"f{i}" for i in range(N_FEATURES)]
SINGLE, DOUBLE = (np.float32, np.float32), (np.float64, np.float64)
Scores = Callable[[Float64Array], list[float]]


@pytest.fixture(scope="session")
def cc() -> None:
    """Find a C compiler; without it these tests skip, or fail where RANKERY_TEST_REQUIRE_ALL is set."""
    require_program("cc", "gcc libc6-dev")


def by_row(score: engines.Scorer) -> Scores:
    """Score documents one by one."""
    return lambda rows: [score(row) for row in rows.tolist()]


def engines_of(export: Export) -> list[tuple[Scores, tuple[type[np.floating], type[np.floating]]]]:
    """Return the engines that read a format, with the float types of their leaves and of their sums."""
    content = export.content
    match export.target.name:
        case "vespa":
            return [
                (by_row(engines.vespa(content, NAMES, single=True)), (np.float32, np.float64)),
                (by_row(engines.vespa(content, NAMES, single=False)), DOUBLE),
            ]
        case "solr":
            return [(by_row(engines.solr(content, NAMES)), SINGLE)]
        case "elasticsearch-xgboost" | "opensearch-xgboost":
            return [(by_row(engines.xgboost_json(content, NAMES)), SINGLE)]
        case "ranklib":
            return [(by_row(engines.ranklib(content)), SINGLE)]
        case "elastic-learning-to-rank":
            return [(by_row(engines.elastic(content, NAMES)), DOUBLE)]
        case "python":
            return [(by_row(engines.python(content)), DOUBLE)]
    raise AssertionError(export.target.name)


def rows_near(model_text: str, seed: int, *, float64: bool, missing: bool, infinite: bool) -> Float64Array:
    """Draw documents from thresholds and their neighbours, limited to values that the engine supports."""
    random = np.random.default_rng(seed)
    thresholds = thresholds_of(model_text)
    if not float64:
        with np.errstate(over="ignore", under="ignore"):
            single = thresholds.astype(np.float32)
            around = [np.nextafter(single, np.float32(towards)) for towards in (-np.inf, np.inf)]
        thresholds = np.concatenate([single, *around]).astype(np.float64)
    rows = documents_near(random, thresholds, 60, N_FEATURES)
    if not float64:
        with np.errstate(over="ignore", under="ignore"):
            rows = rows.astype(np.float32).astype(np.float64)
    rows = rows if missing else np.where(np.isnan(rows), 0.25, rows)
    return rows if infinite else np.where(np.isinf(rows), 0.5, rows)


def check(model_text: str, format: str, seed: int) -> None:
    """Compare a format's scores with LightGBM's on documents around the model's thresholds."""
    options = ExportOptions(never_missing=format == "ranklib")
    export = export_trees(model_text, format, options=options)
    (first, *_) = export.target.arithmetics(options)
    rows = rows_near(
        model_text,
        seed,
        float64=first.float64_exact,
        missing=not options.never_missing,
        infinite=not first.finite_only,
    )
    for score, (leaf, total) in engines_of(export):
        assert score(rows) == expected(model_text, rows, leaf, total)


INTERPRETED = [name for name in TREE_FORMATS if name not in ("lightgbm", "onnx", "c")]
VARIANTS = {
    "complete data": {},
    "missing values": {"missing": True},
    "missing values unused": {"missing": True, "use_missing": False},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("format", [name for name in INTERPRETED if name != "solr"])
def test_an_engine_finds_the_leaves_of_lightgbm(format: str, variant: str) -> None:
    """Leaves of trained models are the same at every threshold, right beside it, and for missing values."""
    check(_named(trained(**VARIANTS[variant])), format, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("format", [name for name in INTERPRETED if name != "solr"])
@given(seed=st.integers(0, 2**32 - 1))
def test_forests_with_special_thresholds_score_as_in_lightgbm(format: str, seed: int) -> None:
    """Thresholds may be infinite, denormal, zero or beyond float32; NaN and zeros may be missing or not."""
    check(special_forest(seed), format, seed)


@pytest.mark.long
@given(seed=st.integers(0, 2**32 - 1))
def test_solr_finds_the_leaves_of_lightgbm(seed: int) -> None:
    """Solr adds 1e-6 to thresholds; the export compensates for it wherever float32 has such a number."""
    text = ModelText.read(special_forest(seed))
    for tree in text.trees:
        tree.thresholds[:] = [t if _is_a_sum_with_slack(t) else 0.7 for t in tree.thresholds]
        tree.decisions[tree.decisions >> 2 == 1] = 8  # zero as missing needs thresholds of ±1e-35
    check(text.write(), "solr", seed)


def _is_a_sum_with_slack(threshold: float) -> bool:
    """Return whether a float32 number plus 1e-6 is the threshold in float32."""
    with np.errstate(over="ignore", under="ignore"):
        wanted = np.float32(threshold)
        if wanted > threshold:
            wanted = np.nextafter(wanted, np.float32(-np.inf))
        tried = wanted - np.float32(1e-6)
        for towards in (-np.inf, np.inf):
            number = tried
            for _ in range(20):
                if number + np.float32(1e-6) == wanted:
                    return bool(abs(threshold) > 1e-35)  # LightGBM treats smaller values as 0
                number = np.nextafter(number, np.float32(towards))
    return False


@pytest.mark.usefixtures("cc")
@pytest.mark.parametrize("seed", range(3))
def test_the_c_source_compiles_and_scores_as_lightgbm(seed: int, tmp_path: Path) -> None:
    """The compiler has no warning; scores of float64 features equal LightGBM's to the bit."""
    for number, text in enumerate([special_forest(seed), trained(missing=True, zero_as_missing=True)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        score = engines.c(export_model(text, "c", name="3 web-v1").content, folder, "model_3_web_v1")
        rows = rows_near(text, seed, float64=True, missing=True, infinite=True)
        assert by_row(score)(rows) == expected(text, rows, *DOUBLE)


@pytest.mark.long
@given(seed=st.integers(0, 2**32 - 1))
def test_onnx_runtime_finds_the_leaves_of_lightgbm(seed: int) -> None:
    """The leaf values are powers of two, so that each sum identifies its leaves."""
    text = ModelText.read(special_forest(seed))
    for index, tree in enumerate(text.trees):
        tree.leaf_values[:] = np.arange(len(tree.leaf_values)) * 8.0**index
    written = text.write()
    rows = rows_near(written, seed, float64=False, missing=True, infinite=True)
    scores = engines.onnx(export_model(written, "onnx").content)(rows)
    assert scores.tolist() == expected(written, rows, *SINGLE)


def test_python_exports_models_with_zero_as_missing() -> None:
    """Models trained with zero_as_missing are exported as code; other formats cannot express all of them."""
    text = _named(trained(zero_as_missing=True, missing=True))
    check(text, "python", seed=2)


@pytest.mark.parametrize("version", ["8.11", "8.13.4"])
def test_older_plugins_read_a_missing_feature_as_0(version: str) -> None:
    """A model that reads missing values as 0, too, has the same scores in old and later versions."""
    text = _named(trained())
    options = ExportOptions(target_version=version)
    export = export_model(text, "elasticsearch-xgboost", options=options)
    rows = documents(3, 80, missing=True).astype(np.float64)
    wanted = expected(text, rows, *SINGLE)
    for missing in ("zero", "as written"):
        assert by_row(engines.xgboost_json(export.content, NAMES, missing=missing))(rows) == wanted


def test_old_solr_reads_a_missing_feature_as_0() -> None:
    """The export for old versions of Solr omits the keys that they refuse, and scores as the model does."""
    text = _named(trained())
    export = export_model(text, "solr", options=ExportOptions(target_version="8.11"))
    rows = documents(4, 80, missing=True).astype(np.float64)
    assert by_row(engines.solr(export.content, NAMES, legacy=True))(rows) == expected(text, rows, *SINGLE)


@pytest.mark.parametrize("format", ["solr", "opensearch-xgboost", "ranklib", "elastic-learning-to-rank"])
def test_shifted_scores_are_never_below_0(format: str) -> None:
    """The least leaves of all trees, the shift included, add up to exactly 0 in the engine's float type."""
    text = _named(trained())
    export = export_trees(text, format, options=ExportOptions(score_shift=True))
    shift = export.source.shift
    assert shift is not None
    trees = ModelText.read(text).trees
    assert shift == pytest.approx(-sum(tree.leaf_values.min() for tree in trees))
    nodes = export.source.nodes
    assert nodes.values[-1] == shift
    ((score, (_, total)),) = engines_of(export)
    rows = documents(5, 300).astype(np.float64)
    raised = score(rows)
    assert min(raised) >= 0.0
    assert raised == pytest.approx(
        [value + shift for value in expected(text, rows, np.float64, total)], abs=1e-5
    )
    assert _min_sum(nodes, total) == 0.0


def _min_sum(nodes: Nodes, kind: type[np.floating]) -> float:
    total = kind(0.0)
    for tree in range(len(nodes.roots)):
        own = nodes.of_tree(tree)
        values = [nodes.values[node] for node in own if nodes.features[node] < 0]
        total = kind(total + kind(min(values)))
    return float(total)


def _named(model_text: str) -> str:
    """Call LightGBM's columns f0, f1, …, as the forests of the other tests do."""
    return model_text.replace("Column_", "f")
