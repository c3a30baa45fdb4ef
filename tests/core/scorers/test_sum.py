"""Sums of models contain their members and add up the members' scores."""

import lightgbm
import numpy as np
import pandas as pd
import pytest

from core.errors import ModelError
from core.scorers import InputTransform, Layer, Member, Network, Sum, read_model, write_network, write_sum
from core.scorers.explainability import explainability_of, explainer_of
from core.scoring.forest import Forest
from tests.core.inspection.forests import forest_of, stump
from tests.core.scoring.forests import random_model_text

NAMES = ("a", "b", "c")


def _network(*names: str) -> Network:
    random = np.random.default_rng(len(names))
    sample = random.normal(size=(50, len(names))).astype(np.float32)
    inputs = InputTransform.fit(sample, kind="standard", log1p=False, missing_indicators=False)
    weights = random.normal(size=(len(names), 1)).astype(np.float32)
    return Network(names, inputs, (Layer(weights, np.zeros(1, np.float32)),))


@pytest.fixture
def network() -> Network:
    """A linear scorer with features in another order, one of which the trees do not have."""
    return _network("d", "b")


@pytest.fixture
def sum_model(network: Network) -> Sum:
    """Trees and a linear scorer."""
    text = random_model_text(np.random.default_rng(1), n_features=3, n_trees=5, max_leaves=8)
    return Sum.of(
        [
            Member("web:1", text.encode(), NAMES, 0.25),
            Member("net:1", write_network(network), network.feature_names, -2.0),
        ]
    )


def test_scores_are_weighted_and_added(sum_model: Sum, network: Network) -> None:
    """Each member finds its features by name, in requests, datasets and blocks alike."""
    features = np.random.default_rng(2).normal(size=(9_000, 4)).astype(np.float32)
    features[::7, 1] = np.nan
    assert sum_model.feature_names == ("a", "b", "c", "d")
    forest = Forest.parse(sum_model.members[0].content)
    expected = 0.25 * forest.score(np.ascontiguousarray(features[:, :3])) - 2.0 * network.score(
        np.ascontiguousarray(features[:, [3, 1]])
    )
    np.testing.assert_array_equal(sum_model.score(features), expected)
    np.testing.assert_array_equal(sum_model.score(features, threads=2), expected)
    np.testing.assert_array_equal(sum_model.score(features[:3]), expected[:3])
    with pytest.raises(ModelError, match="4 features"):
        sum_model.score(features[:, :3])


def test_a_file_of_a_sum_contains_all_members(sum_model: Sum) -> None:
    """A sum is read without any other model, and writing it again gives the same bytes."""
    content = write_sum(sum_model)
    read = read_model(content)
    assert isinstance(read, Sum)
    assert write_sum(read) == content
    assert [each.content for each in read.members] == [each.content for each in sum_model.members]
    assert read.kind == "sum"
    features = np.ones((2, 4))
    np.testing.assert_array_equal(read.score(features), sum_model.score(features))


def test_members_without_weight_use_no_feature(sum_model: Sum, network: Network) -> None:
    """A feature that does not change a score may be absent."""
    zero_weight = Sum.of([sum_model.members[0], Member("net:1", write_network(network), ("d", "b"), 0.0)])
    assert set(sum_model.used_features) == set(zero_weight.used_features) | {3, 1}
    assert 3 not in zero_weight.used_features


@pytest.mark.parametrize("position", [0, 9, 40, -1])
def test_a_damaged_sum_is_refused(sum_model: Sum, position: int) -> None:
    """A sum with a wrong byte, or without its last one, is refused when it is read or scored."""
    content = bytearray(write_sum(sum_model))
    content[position] ^= 0xFF
    with pytest.raises(ModelError):
        read_model(bytes(content[:-1]) if position == -1 else bytes(content)).score(np.ones((1, 4)))


def test_a_sum_of_sums_is_refused(sum_model: Sum) -> None:
    """A sum of sums would hide its models; a sum without models is refused, too."""
    nested = Sum.of([Member("web:1", sum_model.members[0].content, NAMES, 1.0)])
    with pytest.raises(ModelError, match="is a sum of models itself"):
        Sum.of([Member("both:1", write_sum(nested), NAMES, 1.0)])
    with pytest.raises(ModelError, match="1 to 16"):
        Sum.of([])


def test_scores_are_explained_by_all_members(sum_model: Sum) -> None:
    """A feature's contribution is the weighted sum of the members' ones; all of them add up to the score."""
    features = np.random.default_rng(6).normal(size=(20, 4))
    explainability = explainability_of(sum_model)
    assert (explainability.problem, explainability.steps) == (None, explainer_of(sum_model).steps)
    base, contributions = explainer_of(sum_model).explain(features)
    np.testing.assert_allclose(base + contributions.sum(axis=1), sum_model.score(features), atol=1e-9)
    only_net = Sum.of([sum_model.members[1]])
    of_net = explainer_of(only_net).explain(np.ascontiguousarray(features[:, [3, 1]]))[1]
    np.testing.assert_array_equal(contributions[:, 3], of_net[:, 0])


def test_each_member_rounds_to_its_own_precision() -> None:
    """Trees that were imported read float64 and trees of a training float32, in a file, too."""
    text = (
        forest_of(stump(0, 0.1, 1.0, 2.0), n_features=1).write().encode()
    )  # 0.1 is above the threshold after rounding to float32
    members = [
        Member("web:1", text, ("a",), 1.0),
        Member("imported:1", text, ("a",), 10.0, "float64"),
    ]
    alone, both = Sum.of(members[:1]), Sum.of(members)
    assert (alone.precision, both.precision) == ("float32", "float64")
    read = read_model(write_sum(both))
    features = np.array([[0.1]])
    assert read.score(features).tolist() == both.score(features).tolist() == [2.0 + 10.0]
    assert b"precision" not in write_sum(alone)
    base, contributions = explainer_of(both).explain(features)
    assert (base + contributions[:, 0]).tolist() == pytest.approx([2.0 + 10.0])


def test_members_with_other_categories_are_refused() -> None:
    """The error names the models, the feature and the way out; codes of other values would be meaningless."""

    def trained_on(reference: str, *values: str) -> Member:
        column = pd.Categorical([*values] * 50, values) if values else np.arange(100.0)
        data = lightgbm.Dataset(pd.DataFrame({"brand": column}), np.arange(100) % 2)
        text = lightgbm.train({"verbosity": -1, "num_leaves": 3}, data, 1).model_to_string()
        return Member(reference, text.encode(), ("brand",), 1.0)

    first = trained_on("web:1", "acme", "zenith")
    assert Sum.of([first, trained_on("web:2", "acme", "zenith")]).categories == first.model.categories != {}
    for other in (trained_on("shop:1", "zenith", "acme"), trained_on("shop:1")):
        with pytest.raises(ModelError) as refused:
            Sum.of([first, other])
        assert str(refused.value) == (
            "web:1 and shop:1 have different categories for the feature 'brand'; train both on one"
            " dataset, or with the same values in the same order"
        )
