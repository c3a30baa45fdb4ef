"""Content of the report, and its JSON."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from core.data import RankingDataset, read_dataset, synthetic_dataset
from core.doctor import FeatureProfile, examine
from tests.core.doctor.judged import features, sound


def test_each_feature_has_a_profile() -> None:
    """The expected numbers are of 200 documents, of which 20 miss the value and 10 are infinite."""
    values = np.resize([2.0, 0.0, -1.0, 5.0], 200)
    values[:20], values[20:30] = np.nan, np.inf
    profile = examine(sound(features=features(pagerank=values, freshness=7, clicks=np.nan))).features
    finite = values[30:]
    assert asdict(profile[1]) | {"ndcg_at_10": None} == asdict(
        FeatureProfile(
            name="pagerank",
            minimum=-1.0,
            maximum=5.0,
            mean=float(finite.mean()),
            missing=20,
            infinite=10,
            zeros=np.count_nonzero(finite == 0) / 200,
            constant=False,
            constant_in_queries=False,
            ndcg_at_10=None,
            direction=profile[1].direction,
        )
    )
    assert (profile[2].constant, profile[2].constant_in_queries, profile[2].mean) == (True, True, 7.0)
    assert (profile[3].minimum, profile[3].mean, profile[3].missing) == (None, None, 200)


def test_bare_judgments_are_examined_without_features() -> None:
    """There are no feature profiles, and no finding about documents."""
    dataset = RankingDataset.from_arrays(np.empty((40, 0)), np.arange(40) % 3, np.arange(0, 41, 10))
    report = examine(dataset)
    assert report.features == ()
    assert not [finding for finding in report.findings if "document" in finding.title.lower()]


def test_profiles_have_the_quality_and_direction_of_a_feature() -> None:
    """The quality is NDCG@10 in the better direction."""
    down = examine(sound(features=features(clicks=-sound().labels))).features[3]
    assert down.ndcg_at_10 == pytest.approx(1.0)
    assert down.direction == "ascending"


def test_without_two_labels_a_profile_has_no_ndcg() -> None:
    """NDCG needs a query with two labels."""
    assert examine(sound(labels=np.ones(200))).features[0].ndcg_at_10 is None


def test_findings_and_profiles_are_json() -> None:
    """JSON has no NaN and no infinity, whatever the data hold."""
    report = examine(sound(features=features(bm25=np.nan, clicks=np.inf), labels=np.full(200, np.nan)))
    written = json.loads(json.dumps([asdict(finding) for finding in report.findings], allow_nan=False))
    assert [finding["code"] for finding in written] == [finding.code for finding in report.findings]
    assert written[0].keys() == {
        "code", "severity", "title", "advice", "count", "total", "unit", "examples", "example_kind",
    }  # fmt: skip
    json.dumps([asdict(profile) for profile in report.features], allow_nan=False)


def test_examples_are_ten_at_most() -> None:
    """The limit does not depend on the number of queries."""
    ids = ["same"] * 200
    (finding,) = examine(sound(document_ids=ids)).findings
    assert finding.count == 180
    assert finding.examples == tuple(f"q{number}" for number in range(10))


def test_synthetic_data_are_sound() -> None:
    """Data of the kind that the demo trains on have no findings."""
    assert examine(synthetic_dataset(100, seed=1, n_features=10)).findings == ()


@pytest.mark.parametrize("name", ["train", "test"])
def test_public_data_give_information_only(shared_data: Path, name: str) -> None:
    """LightGBM's example is sparse, and otherwise in order."""
    findings = examine(read_dataset(shared_data / "lightgbm-rank" / f"{name}.letor.txt")).findings
    assert {finding.severity for finding in findings} == {"info"}
    constant = next(finding for finding in findings if finding.code == "constant-features")
    assert constant.count == {"train": 82, "test": 83}[name]
