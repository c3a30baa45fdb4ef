"""Models that an export refuses rather than changes."""

from typing import Any

import numpy as np
import pytest

from core.errors import InvalidInput, ModelError
from core.export import TREE_FORMATS, ExportOptions, export_model, parity
from core.export.tree_target import MAX_DEPTH
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree
from tests.core.export.models import trained
from tests.core.export.test_parity import NAMES
from tests.core.scoring.forests import random_model_text

MISSING, COMPLETE = trained(missing=True), trained()
ALL_AS_LIGHTGBM = ("lightgbm", "c", "python")


def chain(n_splits: int, leaf: float = 1.0) -> str:
    """Write a model of one tree in which the left child of every split is a leaf."""
    numbers = np.arange(n_splits)
    tree = Tree(
        features=numbers % 5,
        thresholds=np.arange(n_splits, dtype=np.float64) + 0.5,
        decisions=np.zeros(n_splits, np.int64),
        left=-numbers - 1,
        right=np.append(numbers[1:], -n_splits - 1),
        leaf_values=np.full(n_splits + 1, leaf),
        gains=np.zeros(n_splits),
        split_counts=numbers,
        leaf_counts=np.arange(n_splits + 1),
    )
    return ModelText(NAMES, (tree,)).write()


@pytest.mark.parametrize("format", sorted(set(TREE_FORMATS) - {*ALL_AS_LIGHTGBM}))
def test_zeros_that_an_engine_would_send_to_another_side_are_refused(format: str) -> None:
    """The error has the feature and threshold of a split that treats zeros differently from values near 0."""
    text = trained(zero_as_missing=True, missing=True)
    with pytest.raises(ModelError, match=r"cannot express \d+ of the \d+ splits \('f\d' <= .* in tree \d"):
        export_model(text, format, NAMES)
    for name in ALL_AS_LIGHTGBM:
        assert parity(export_model(text, name, NAMES)).exact


@pytest.mark.parametrize(
    ("format", "version", "words"),
    [
        ("ranklib", None, "Choose a format with missing values"),
        ("solr", "9.1", "Solr 9.2 and later"),
        ("solr", "8", "Solr 9.2 and later"),
        ("elasticsearch-xgboost", "8.13.4", "8.14 and later"),
        ("elasticsearch-xgboost", "7.17", "8.14 and later"),
        ("opensearch-xgboost", "2.19", "3.8 and later"),
        ("opensearch-xgboost", "3.1", "3.8 and later"),
        ("opensearch-xgboost", "3.2", "3.8 and later"),
        ("opensearch-xgboost", "3.7.1", "3.8 and later"),
    ],
)
def test_missing_values_that_an_engine_would_send_to_another_side_are_refused(
    format: str, version: str | None, words: str
) -> None:
    """The error lists alternatives; an export with `never_missing` succeeds, and its report notes that."""
    with pytest.raises(ModelError, match=words):
        export_model(MISSING, format, NAMES, options=ExportOptions(target_version=version))
    options = ExportOptions(target_version=version, never_missing=True)
    report = parity(export_model(MISSING, format, NAMES, options=options))
    assert any("never_missing" in note for note in report.notes)
    residue = report.engines[0].slack_residue
    assert report.exact or (residue is not None and residue.splits)


@pytest.mark.parametrize(
    ("format", "version"),
    [
        ("solr", "9.2"),
        ("solr", "10"),
        ("elasticsearch-xgboost", "8.14"),
        ("elasticsearch-xgboost", "9.0.1"),
        ("opensearch-xgboost", "3.8"),
        ("elastic-learning-to-rank", "8.12"),
    ],
)
def test_versions_with_a_side_for_missing_values_accept_the_model(format: str, version: str) -> None:
    """The first version with a side for missing values at each split accepts the model, as do later ones."""
    export_model(MISSING, format, NAMES, options=ExportOptions(target_version=version))


@pytest.mark.parametrize("version", ["2.19", "3.1"])
def test_engines_that_read_missing_as_0_are_exact_if_the_model_does_so_too(version: str) -> None:
    """OpenSearch 3.2 to 3.7 sends NaN right at every split and is refused, since the model does not."""
    options = ExportOptions(target_version=version)
    assert parity(export_model(COMPLETE, "opensearch-xgboost", NAMES, options=options)).exact
    with pytest.raises(ModelError, match="go right at every split"):
        export_model(COMPLETE, "opensearch-xgboost", NAMES, options=ExportOptions(target_version="3.5"))


def test_exports_for_elasticsearch_before_8_15_list_input_fields() -> None:
    """Versions before 8.12, which had no learning to rank, are refused."""
    body = export_model(
        COMPLETE, "elastic-learning-to-rank", NAMES, options=ExportOptions(target_version="8.14")
    ).content
    assert b'"input":{"field_names":["f0"' in body
    with pytest.raises(InvalidInput, match=r"at least 8\.12"):
        export_model(
            COMPLETE, "elastic-learning-to-rank", NAMES, options=ExportOptions(target_version="8.11")
        )


@pytest.mark.parametrize("format", sorted(set(TREE_FORMATS) - {"lightgbm"}))
@pytest.mark.parametrize(("kind", "words"), [("linear", "linear trees"), ("averages", "boosting=rf")])
def test_models_that_are_not_sums_of_constant_leaves_are_refused(format: str, kind: str, words: str) -> None:
    """Models with linear leaves or averaged trees can be exported only as LightGBM's text."""
    random = np.random.default_rng(0)
    flags: dict[str, Any] = {kind: True}
    text = random_model_text(random, 5, 3, 8, categorical=False, **flags)
    with pytest.raises(ModelError, match=words):
        export_model(text, format, NAMES)
    assert export_model(text, "lightgbm", NAMES).content.decode() == text


@pytest.mark.parametrize("format", TREE_FORMATS)
def test_only_nested_formats_refuse_deep_trees(format: str) -> None:
    """Parsers limit the depth of nested JSON; a tree of the maximum depth is exported in every format."""
    assert parity(export_model(chain(MAX_DEPTH), format, NAMES)).engines
    if TREE_FORMATS[format].nests:
        with pytest.raises(ModelError, match="a depth of 301"):
            export_model(chain(MAX_DEPTH + 1), format, NAMES)
    else:
        assert parity(export_model(chain(5000), format, NAMES)).exact


def test_leaves_beyond_float32_are_refused() -> None:
    """Such leaves would be infinite in an engine that computes in float32."""
    text = chain(3, leaf=1e39)
    for name in ("vespa", "solr", "ranklib", "onnx", "opensearch-xgboost"):
        with pytest.raises(ModelError, match="exceed the range of float32"):
            export_model(text, name, NAMES)
    for name in (*ALL_AS_LIGHTGBM, "elastic-learning-to-rank"):
        assert parity(export_model(text, name, NAMES)).exact


@pytest.mark.parametrize(
    ("format", "options", "pointer"),
    [
        ("lightgbm", {"score_shift": True}, "/score_shift"),
        ("vespa", {"score_shift": True}, "/score_shift"),
        ("onnx", {"target_version": "1.0"}, "/target_version"),
        ("c", {"feature_set": "web"}, "/feature_set"),
        ("ranklib", {"target_version": "2"}, "/target_version"),
        ("lightgbm", {"feature_names": {"f0": "x"}}, "/feature_names"),
        ("solr", {"target_version": "nine"}, "/target_version"),
        ("solr", {"target_version": "9.6\n"}, "/target_version"),
        ("solr", {"model_name": "../x"}, "/model_name"),
        ("solr", {"feature_set": "a b"}, "/feature_set"),
        ("solr", {"feature_names": {"nope": "x"}}, "/feature_names/nope"),
        ("solr", {"feature_names": {"a/b": "x"}}, "/feature_names/a~1b"),
        ("solr", {"feature_names": {"f0": ""}}, "/feature_names/f0"),
        ("solr", {"feature_names": {"f0": "x\n"}}, "/feature_names/f0"),
        ("solr", {"feature_names": {"f0": "x" * 501}}, "/feature_names/f0"),
        ("solr", {"feature_names": {"f0": "f1"}}, "/feature_names"),
        ("vespa", {"feature_names": {"f0": "page views"}}, "/feature_names"),
        ("vespa", {"feature_names": {"f0": 'x("y")'}}, "/feature_names"),
        ("vespa", {"feature_names": {"f0": "a-b"}}, "/feature_names"),
        ("vespa", {"feature_names": {"f0": "attribute(x"}}, "/feature_names"),
    ],
)
def test_bad_options_are_refused_by_pointer(format: str, options: dict[str, Any], pointer: str) -> None:
    """An option that the format does not have is refused, as is an invalid value."""
    with pytest.raises(InvalidInput) as refused:
        export_model(COMPLETE, format, NAMES, options=ExportOptions(**options))
    assert [problem.pointer for problem in refused.value.problems] == [pointer]


def test_the_error_for_an_unknown_feature_names_a_similar_one() -> None:
    """A mistyped feature can be corrected without the list of features."""
    with pytest.raises(InvalidInput, match=r"the model has no feature 'f_1'; did you mean f1\?"):
        export_model(COMPLETE, "solr", NAMES, options=ExportOptions(feature_names={"f_1": "x"}))


@pytest.mark.parametrize(
    "name", ["attribute(tensor,x)", "fieldMatch(title).completeness", "bm25(title)", "myFunction", "now"]
)
def test_vespa_features_may_be_rank_features(name: str) -> None:
    """LightGBM's own names cannot be rank features."""
    options = ExportOptions(feature_names={"f0": name})
    export = export_model(COMPLETE, "vespa", NAMES, options=options)
    assert f'"feature_names": ["{name}", "f1"'.encode() in export.content
    assert parity(export).exact
