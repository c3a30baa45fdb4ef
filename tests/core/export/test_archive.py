"""Content of archives, and the commands of their READMEs."""

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

from core.export import TREE_FORMATS, ExportOptions, TreeExport, archive, export_model, golden_vectors, parity
from core.export.solr import ZOOKEEPER_BYTES
from core.scoring.model_text import ModelText
from tests.core.export.models import export_trees, trained
from tests.core.export.test_engines import cc, engines_of
from tests.core.export.test_parity import NAMES, judged

__all__ = ["cc"]

MODEL = trained(missing=True)
COMPLETE = trained()


def archived(format: str, *, with_data: bool = True, **options: Any) -> tuple[TreeExport, zipfile.ZipFile]:
    """Export a model; pack it with its parity report and golden vectors."""
    text = COMPLETE if format == "ranklib" else MODEL
    export = export_trees(text, format, NAMES, "web-3", ExportOptions(**options))
    data = judged(missing=True) if with_data else None
    packed = archive(export, parity(export, data), {"dataset_id": "ds_1"}, golden_vectors(export, data))
    return export, zipfile.ZipFile(io.BytesIO(packed))


def lines(packed: zipfile.ZipFile) -> list[dict[str, Any]]:
    """Read golden vectors."""
    return [json.loads(line) for line in packed.read("golden.jsonl").decode().splitlines()]


def matrix(golden: list[dict[str, Any]]) -> Any:
    """Put the features of golden vectors into a matrix."""
    return np.array([list(vector["features"].values()) for vector in golden], np.float64)


@pytest.mark.parametrize("format", TREE_FORMATS)
def test_an_archive_has_model_parity_report_and_golden_vectors(format: str) -> None:
    """The archive has the same bytes each time."""
    export, packed = archived(format)
    target = export.target
    needed = {"README.md", target.filename, "parity.json", "golden.jsonl"}
    assert needed <= set(packed.namelist())
    assert packed.read(target.filename) == export.content
    report = json.loads(packed.read("parity.json"))
    assert (report["format"], report["dataset_id"]) == (format, "ds_1")
    assert len(report["engines"]) == len(target.arithmetics(export.source.options))
    again = archived(format)[1]
    assert [packed.read(name) for name in packed.namelist()] == [again.read(n) for n in again.namelist()]
    assert all(info.date_time[0] == 1980 for info in packed.infolist())


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize("format", TREE_FORMATS)
def test_golden_vectors_are_the_engines_scores_and_lightgbms(format: str, with_data: bool) -> None:
    """The engines of the tests find the same scores to the bit: on data, missing values, and thresholds."""
    options = {"never_missing": True} if format == "ranklib" else {}
    export, packed = archived(format, with_data=with_data, **options)
    golden = lines(packed)
    kinds = {vector["id"].rpartition("-")[0] for vector in golden}
    expected_kinds = {"data" if with_data else "synthetic", "missing", "threshold"}
    assert kinds == expected_kinds - ({"missing"} if format == "ranklib" else set())
    assert len(golden) >= 40
    assert all(list(vector["features"]) == list(NAMES) for vector in golden)
    rows = matrix(golden)
    booster = lightgbm.Booster(model_str=COMPLETE if format == "ranklib" else MODEL)
    assert [vector["lightgbm"] for vector in golden] == np.asarray(
        booster.predict(rows, raw_score=True)
    ).tolist()
    if format in ("lightgbm", "c", "python"):
        assert all(vector["score"] == vector["lightgbm"] for vector in golden)
    elif format != "onnx":
        score, _ = engines_of(export)[0]
        assert [vector["score"] for vector in golden] == score(rows)


@pytest.mark.long
@pytest.mark.usefixtures("cc")
@pytest.mark.parametrize(
    "format", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("lightgbm", "onnx")), "c", "python"]
)
def test_the_readme_replays_the_golden_vectors(format: str, tmp_path: Path) -> None:
    """The commands of the README run unchanged."""
    _, packed = archived(format)
    packed.extractall(tmp_path)
    blocks = re.findall(r"```(sh|python)\n(.*?)```", packed.read("README.md").decode(), re.DOTALL)
    assert blocks
    for language, code in blocks:
        command = ["bash", "-e", "-c", code] if language == "sh" else [sys.executable, "-c", code]
        subprocess.run(command, cwd=tmp_path, check=True)
    spoilt = packed.read("golden.jsonl").decode().replace('"score": ', '"score": 1')
    (tmp_path / "golden.jsonl").write_text(spoilt)
    replay = [sys.executable, "-c", blocks[-1][1]]
    assert subprocess.run(replay, cwd=tmp_path, check=False, capture_output=True).returncode != 0


@pytest.mark.parametrize("format", sorted(set(TREE_FORMATS) - {"lightgbm", "onnx", "c", "python"}))
def test_the_readme_has_the_name_and_path_of_the_model(format: str) -> None:
    """For engines that load models by requests, the readme has the path of the request."""
    _, packed = archived(format, model_name="Best.One")
    readme = packed.read("README.md").decode()
    assert "Best.One" in readme
    paths = {
        "vespa": 'lightgbm("Best.One.json")',
        "solr": "/schema/model-store",
        "elastic-learning-to-rank": "/_ml/trained_models/Best.One",
    }
    assert paths.get(format, "/_ltr/_featureset/rankery/_createmodel") in readme


def test_the_archive_for_solr_has_features() -> None:
    """The default value of each feature is NaN, which the model treats as missing."""
    _, packed = archived("solr", feature_set="shop")
    features = json.loads(packed.read("features.json"))
    assert [feature["name"] for feature in features] == list(NAMES)
    assert {feature["store"] for feature in features} == {"shop"}
    assert {feature["params"]["defaultValue"] for feature in features} == {"NaN"}
    assert "wrapper.json" not in packed.namelist()


def test_a_model_too_large_for_zookeeper_gets_a_wrapper() -> None:
    """The report notes the wrapper."""
    trees = ModelText.read(COMPLETE).trees
    large = ModelText(NAMES, trees * 80).write()
    export = export_model(large, "solr", NAMES, "web-3")
    assert len(export.content) > ZOOKEEPER_BYTES
    report = parity(export)
    note = "copy model.json as web-3.json to a <lib> folder of each node, and upload wrapper.json instead."
    assert report.notes[0].endswith(note)
    wrapper = json.loads(export.target.companions(export.source, export.content)["wrapper.json"])
    assert wrapper["class"] == "org.apache.solr.ltr.model.DefaultWrapperModel"
    assert wrapper["params"] == {"resource": "web-3.json"}
