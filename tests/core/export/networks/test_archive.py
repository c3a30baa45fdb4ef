"""Archives of linear scorers and networks: their files and the commands of their READMEs."""

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.export import FORMATS, Export, archive, golden_vectors, parity
from core.scorers import Network
from tests.core.export.networks.test_formats import N_FEATURES, NAMES, cc, exported
from tests.core.export.networks.test_parity import judged, options_of
from tests.core.scorers.networks import random_network

__all__ = ["cc"]

LINEAR, MLP = random_network(N_FEATURES), random_network(N_FEATURES, (5, 3), activation="sigmoid")
CASES = [(network, name) for network in (LINEAR, MLP) for name in FORMATS[network.kind]]


def named(value: Any) -> str:
    """Return the id of a test's parameter."""
    return value if isinstance(value, str) else str(value.kind)


def archived(network: Network, format: str, *, with_data: bool = True) -> tuple[Export, zipfile.ZipFile]:
    """Export a model; pack it with its parity report and golden vectors."""
    export = exported(network, format, **options_of(format))
    data = judged() if with_data else None
    packed = archive(export, parity(export, data), {"dataset_id": "ds_1"}, golden_vectors(export, data))
    return export, zipfile.ZipFile(io.BytesIO(packed))


@pytest.mark.parametrize(("network", "format"), CASES, ids=named)
def test_an_archive_has_model_parity_report_and_golden_vectors(network: Network, format: str) -> None:
    """Files of repeated archives are equal, and the README states how many scores differ."""
    export, packed = archived(network, format)
    assert {"README.md", export.target.filename, "parity.json", "golden.jsonl"} <= set(packed.namelist())
    assert packed.read(export.target.filename) == export.content
    report = json.loads(packed.read("parity.json"))
    assert (report["format"], report["scorer"], report["exact"]) == (format, network.kind, True)
    assert report["engines"][0]["edge_cases"]["documents"] == 512
    readme = packed.read("README.md").decode()
    assert "the scores of 0 of 512 edge cases differ" in readme
    assert "LightGBM" not in readme
    again = archived(network, format)[1]
    assert [packed.read(name) for name in packed.namelist()] == [again.read(n) for n in again.namelist()]


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize(("network", "format"), CASES, ids=named)
def test_golden_vectors_have_scores_of_engine_and_model(
    network: Network, format: str, with_data: bool
) -> None:
    """Vectors are rows of data, rows with missing features, and edge cases; JSON has no infinity."""
    export, packed = archived(network, format, with_data=with_data)
    golden = [json.loads(line) for line in packed.read("golden.jsonl").decode().splitlines()]
    kinds = {vector["id"].rpartition("-")[0] for vector in golden}
    never_missing = "never_missing" in options_of(format)
    assert kinds == {"data" if with_data else "synthetic", "edge"} | (set() if never_missing else {"missing"})
    assert len(golden) == (40 if never_missing else 48)
    assert all(list(vector["features"]) == NAMES for vector in golden)
    rows = np.array([list(vector["features"].values()) for vector in golden], np.float32)
    assert not np.isinf(rows).any()
    assert np.isnan(rows).any() != never_missing
    assert [vector["rankery"] for vector in golden] == network.score(rows).tolist()
    scores = np.array([vector["score"] for vector in golden]) - (export.source.shift or 0.0)
    single = format == "solr" or format.endswith("-linear")
    np.testing.assert_allclose(
        scores, network.score(rows), rtol=1e-5 if single else 1e-12, atol=1e-4 if single else 1e-12
    )


@pytest.mark.long
@pytest.mark.usefixtures("cc")
@pytest.mark.parametrize("format", ["onnx", "c", "python", "safetensors"])
def test_the_readme_replays_the_golden_vectors(format: str, tmp_path: Path) -> None:
    """The commands of the README run unchanged, and fail if a score differs."""
    _, packed = archived(MLP, format)
    packed.extractall(tmp_path)
    blocks = re.findall(r"```(sh|python)\n(.*?)```", packed.read("README.md").decode(), re.DOTALL)
    assert blocks
    for language, code in blocks:
        command = ["bash", "-e", "-c", code] if language == "sh" else [sys.executable, "-c", code]
        subprocess.run(command, cwd=tmp_path, check=True)
    if format == "safetensors":
        return
    (tmp_path / "golden.jsonl").write_text(
        packed.read("golden.jsonl").decode().replace('"score": ', '"score": 1')
    )
    replay = [sys.executable, "-c", blocks[-1][1]]
    assert subprocess.run(replay, cwd=tmp_path, check=False, capture_output=True).returncode != 0


def test_solrs_features_default_to_the_means() -> None:
    """A missing feature scales to 0, as in the model."""
    _, packed = archived(MLP, "solr")
    features = json.loads(packed.read("features.json"))
    defaults = np.array([feature["params"]["defaultValue"] for feature in features], np.float32)
    np.testing.assert_array_equal(defaults, MLP.inputs.means.astype(np.float32))


def test_vespas_archive_has_a_rank_profile_for_the_onnx_model() -> None:
    """The README names the paths of both files."""
    _, packed = archived(MLP, "vespa")
    assert b"onnx-model web_3" in packed.read("model.profile")
    readme = packed.read("README.md").decode()
    assert "`model.onnx` as `models/web-3.onnx`" in readme
    assert "schemas/SCHEMA/web_3.profile" in readme
