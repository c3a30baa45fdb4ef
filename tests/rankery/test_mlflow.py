"""`rankery mlflow` with the real MLflow in a separate environment, since its pins conflict with ours."""

import csv
import datetime
import json
import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.data.categories import Categories
from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import AnswerNotUnderstood, FileUnusable
from rankery.mlflow.exporting import _categories, nodes_of
from rankery.mlflow.importing import _model_file
from rankery.mlflow.rankery_pyfunc import ScoringModel, _codes, _interpolated, numbers_of
from tests.rankery.cli.commands import run
from tests.requirements import skip_without

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-mlflow" / "bin" / "python"
ABSENT = f"no MLflow in {PYTHON.parents[1].name}; `make .venv-mlflow/.installed` makes it"
MARKETS = ("de", "ch", "fr", "uk")
COLUMNS: Any = {"label": "grade", "query": "search", "document": "doc", "categorical_features": ["market"]}
OURS = {"loader_module": "rankery_pyfunc"}
# Prints the scores of a CSV file by an MLflow model, and the imported packages.
SCORE = """
import json, sys
import mlflow.pyfunc, pandas
model = mlflow.pyfunc.load_model(sys.argv[1])
frame = pandas.read_csv(sys.argv[2], dtype={"shop": "Int64"})
if "categories" in sys.argv[3:]:
    frame["market"] = frame["market"].astype("category")
scores = model.predict(frame)
signature = {one.name: str(one.type) for one in model.metadata.signature.inputs}
print(json.dumps({"scores": scores.tolist(), "lightgbm": "lightgbm" in sys.modules, "signature": signature,
    "rankery": "rankery" in sys.modules, "metadata": model.metadata.metadata["rankery"]}))
"""
# Saves a booster and an estimator with MLflow's own functions.
SAVE = """
import sys
import lightgbm, mlflow.lightgbm, numpy
random = numpy.random.default_rng(0)
features = random.random((200, 2))
ranker = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1)
ranker.fit(features, (features[:, 0] * 3).astype(int), group=[10] * 20)
mlflow.lightgbm.save_model(ranker.booster_, sys.argv[1])
mlflow.lightgbm.save_model(ranker, sys.argv[2], serialization_format="cloudpickle")
"""


@pytest.fixture(scope="session")
def mlflow() -> None:
    """MLflow's environment; tests skip without it, or fail if RANKERY_TEST_REQUIRE_ALL is set."""
    if not PYTHON.exists():
        skip_without(ABSENT)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with missing values, a category of texts and a category of whole numbers."""
    random = np.random.default_rng(7)
    path = tmp_path_factory.mktemp("files") / "judged.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["search", "doc", "grade", "bm25", "freshness", "market", "shop"])
        for query in range(60):
            for document in range(10):
                bm25, freshness, market = random.normal(10, 4), random.random(), random.integers(4)
                value = bm25 / 4 + 2 * freshness + (market == 1) + random.normal(0, 0.5)
                cells = [f"{bm25:.5f}", f"{freshness:.5f}", MARKETS[market], str(7 * random.integers(5))]
                shown = ["" if random.random() < 0.1 else cell for cell in cells]
                rows.writerow([f"q{query}", f"d{document}", int(np.clip(value - 2, 0, 4)), *shown])
    return path


@pytest.fixture(scope="module")
def client(mlflow: None, stack: EmbeddedStack, judged: Path) -> Iterator[Client]:
    """Models: trees with categories, plain trees, linear trees, a network and its sum with trees."""
    with Client(stack.url) as client:
        mixed: Any = {**COLUMNS, "categorical_features": ["market", "shop"]}
        numbers: Any = {"label": "grade", "query": "search", "document": "doc", "ignore": ["market", "shop"]}
        with_categories = client.upload_dataset(judged, "judged", columns=mixed).wait()
        plain = client.upload_dataset(judged, "numbers", columns=numbers).wait()
        small: Any = {"num_iterations": 20, "num_leaves": 8, "min_data_in_leaf": 3, "min_data_per_group": 5}
        network: Any = {"kind": "mlp", "hidden": [8, 4], "epochs": 3, "inputs": "rank-gauss"}
        straight: Any = {"kind": "linear", "epochs": 3, "log1p": True}
        linear: Any = {**small, "linear_tree": True}
        jobs = [
            client.train("mixed", with_categories, test=0.3, hyperparameters=small, tags={"a": "b"}),
            client.train("plain", plain, "lambdarank", hyperparameters=small),
            client.train("linear-trees", plain, "mse", hyperparameters=linear),
            client.train("small-net", plain, scorer=network),
            client.train("straight", plain, "w-ranknet", scorer=straight),
        ]
        for job in jobs:
            job.wait()
        members: Any = {"kind": "sum", "models": ["mixed", "plain", "small-net"], "weights": [1.0, 0.5, -0.2]}
        client.train("both", with_categories, loss=None, scorer=members).wait()
        yield client


def rankery(stack: EmbeddedStack, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run a command in MLflow's environment, which lacks the server's packages."""
    return subprocess.run(
        [PYTHON, "-m", "rankery", *map(str, arguments), "--data-dir", stack.data_dir],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def by_mlflow(folder: Path, judged: Path, *options: str) -> dict[str, Any]:
    """Score a file in a process with MLflow and without Rankery."""
    done = subprocess.run(
        [PYTHON, "-P", "-c", SCORE, folder, judged, *options],
        capture_output=True,
        text=True,
        timeout=120,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def by_service(client: Client, model: str, judged: Path) -> list[float | None]:
    """Score the same file with the service."""
    names = client.model(model).feature_names
    texts = ("market", "shop")
    with judged.open() as file:
        documents = [
            {
                "id": str(index),
                "features": {
                    name: row[name] if name in texts else float(row[name]) for name in names if row[name]
                },
            }
            for index, row in enumerate(csv.DictReader(file))
        ]
    (query,) = client.rank(model, [{"id": "q", "documents": documents}]).queries
    scores = {int(str(document.id)): document.score for document in query.ranking}
    return [scores[index] for index in range(len(scores))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "needs_lightgbm", "tolerance"),
    [
        ("mixed", True, 0.0),
        ("plain", False, 0.0),
        ("linear-trees", True, 0.0),
        ("small-net", False, 1e-9),
        ("straight", False, 1e-9),
        ("both", True, 1e-9),
    ],
)
def test_an_exported_model_scores_as_on_the_service_and_can_be_imported(
    stack: EmbeddedStack,
    client: Client,
    judged: Path,
    tmp_path: Path,
    model: str,
    needs_lightgbm: bool,
    tolerance: float,
) -> None:
    """MLflow's scores equal the service's, for trees exactly; importing the export restores the same file."""
    exported = rankery(stack, "mlflow", "export", model, "--output", tmp_path / "made", "--json")
    assert exported.returncode == 0, exported.stderr
    answer = json.loads(exported.stdout)
    assert (answer["model"], answer["largest_difference"] <= tolerance) == (f"{model}:1", True)
    found, expected = by_mlflow(tmp_path / "made", judged), by_service(client, model, judged)
    assert found["scores"] == pytest.approx(expected, rel=tolerance, abs=tolerance)
    assert len(set(expected)) > 20
    assert (found["lightgbm"], found["rankery"]) == (needs_lightgbm, False)
    assert any(one.startswith("lightgbm==") for one in answer["requirements"]) == needs_lightgbm

    imported = rankery(stack, "mlflow", "import", tmp_path / "made", "--name", f"{model}-again", "--json")
    assert imported.returncode == 0, imported.stderr
    again = json.loads(imported.stdout)
    assert again["sha256"] == client.model(model).sha256
    # Imported trees do not round features to float32, which changes the values of linear leaves.
    rounding = 1e-6 if model == "linear-trees" else 0.0
    assert by_service(client, f"{model}-again", judged) == pytest.approx(expected, rel=rounding, abs=rounding)


@pytest.mark.slow
def test_the_directory_describes_the_model(
    stack: EmbeddedStack, client: Client, judged: Path, tmp_path: Path
) -> None:
    """Signature, metrics, parameters and tags are exported; categories can be texts or pandas categories."""
    rankery(stack, "mlflow", "export", "mixed", "--output", tmp_path / "made")
    scored = by_mlflow(tmp_path / "made", judged, "categories")
    assert scored["scores"] == by_mlflow(tmp_path / "made", judged)["scores"]
    assert {name: kind.split(".")[-1].lower() for name, kind in scored["signature"].items()} == {
        "bm25": "double",
        "freshness": "double",
        "market": "any",
        "shop": "any",
    }
    metadata, model = scored["metadata"], client.model("mixed")
    assert metadata["metrics"] == model.metrics
    assert (metadata["hyperparameters"], metadata["loss"], metadata["tags"]) == (
        model.hyperparameters,
        model.loss,
        {"a": "b"},
    )
    lines = (tmp_path / "made" / "requirements.txt").read_text().splitlines()
    assert [line.partition("==")[0] for line in lines] == ["mlflow", "numpy", "pandas", "lightgbm"]

    again = json.loads(rankery(stack, "mlflow", "import", tmp_path / "made", "--json").stdout)
    assert (again["name"], again["version"], again["tags"]["a"]) == ("mixed", 2, "b")
    assert again["description"].startswith("Exported to MLflow as mixed:1. Test metrics: ndcg@")


@pytest.mark.slow
def test_a_booster_that_mlflow_saved_is_imported_and_a_pickle_is_not(
    stack: EmbeddedStack, client: Client, tmp_path: Path
) -> None:
    """A pickled estimator is refused, because loading it could run code."""
    subprocess.run(
        [PYTHON, "-P", "-c", SAVE, tmp_path / "booster", tmp_path / "ranker"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    imported = rankery(stack, "mlflow", "import", tmp_path / "booster", "--name", "elsewhere", "--json")
    assert imported.returncode == 0, imported.stderr
    assert client.model("elsewhere").feature_names == ["Column_0", "Column_1"]
    nameless = rankery(stack, "mlflow", "import", tmp_path / "booster")
    assert (nameless.returncode, nameless.stdout) == (2, "")
    refused = rankery(stack, "mlflow", "import", tmp_path / "ranker", "--name", "elsewhere")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "is a pickled estimator" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_failed_exports_and_imports_are_reported_in_one_sentence(
    stack: EmbeddedStack, client: Client, tmp_path: Path
) -> None:
    """Export refuses an existing directory; import refuses one without `MLmodel` or with a path outside."""
    taken = rankery(stack, "mlflow", "export", "mixed", "--output", tmp_path)
    assert taken.returncode == 1
    assert f"{tmp_path} exists; choose another directory with --output" in taken.stderr
    empty = rankery(stack, "mlflow", "import", tmp_path, "--name", "web")
    assert empty.stderr.endswith(f"{tmp_path} is not an MLflow model directory: it has no file MLmodel\n")
    link = tmp_path / "model"
    link.mkdir()
    (link / "MLmodel").write_text("flavors: {lightgbm: {data: ../outside.txt}}\n")
    (tmp_path / "outside.txt").write_text("tree\n")
    refused = rankery(stack, "mlflow", "import", link, "--name", "web")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "is outside the directory" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_error_without_mlflow_names_the_command_to_install_it(
    stack: EmbeddedStack, tmp_path: Path
) -> None:
    """The error has the command to install MLflow, before a request to the service."""
    for words in (("export", "web"), ("import", tmp_path)):
        without = run("mlflow", *words, "--data-dir", stack.data_dir)
        assert without.code == 1
        assert without.sentence == "mlflow is not installed: pip install 'rankery[mlflow]'"


@pytest.mark.parametrize(
    ("flavors", "sentence"),
    [
        (
            {"python_function": {"loader_module": "rankery_pyfunc", "data": "../outside"}},
            "is outside the directory",
        ),
        (
            {"python_function": {"loader_module": "rankery_pyfunc", "data": "/outside"}},
            "is outside the directory",
        ),
        ({"lightgbm": {"data": "../outside/model.txt"}}, "is outside the directory"),
        ({"lightgbm": {"data": "link.txt"}}, "is outside the directory"),
        ({"lightgbm": {"data": "gone.txt"}}, "has no model file gone.txt"),
        ({"lightgbm": [1]}, "has no model file None"),
        ({"python_function": "text"}, "its flavors are python_function"),
        ({}, "its flavors are none"),
    ],
    ids=str,
)
def test_an_unusable_model_description_is_refused(
    tmp_path: Path, flavors: dict[str, Any], sentence: str
) -> None:
    """The model file must exist in the directory, and a flavor must be supported."""
    folder, outside = tmp_path / "model", tmp_path / "outside"
    for one in (folder, outside):
        one.mkdir()
    (outside / "model.txt").write_text("tree\n")
    (folder / "link.txt").symlink_to(outside / "model.txt")
    with pytest.raises(FileUnusable, match=sentence):
        _model_file(folder, flavors)


def test_a_module_with_content_other_than_nodes_is_refused() -> None:
    """The module is parsed and not run."""
    for text in ("", "NODES = (\n    (0, __import__('os'), 0, 0),\n)\nROOTS = (\n    0,\n)\n"):
        with pytest.raises(AnswerNotUnderstood):
            nodes_of(text)


def test_a_frame_with_missing_columns_or_text_is_refused() -> None:
    """The model checks the columns, since MLflow checks none without a signature."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed: make develop")
    model = ScoringModel(["bm25", "price"], {}, lambda features: features.sum(axis=1))
    assert model.predict(np.array([[1.0, 2.0]])).tolist() == [3.0]
    with pytest.raises(ValueError, match="needs the columns price;"):
        model.predict(pd.DataFrame({"bm25": [1.0]}))
    with pytest.raises(ValueError, match="the column price must hold numbers"):
        model.predict(pd.DataFrame({"bm25": [1.0], "price": ["dear"]}))


@pytest.mark.parametrize(
    "values",
    [
        ("7", "14"),
        ("1.5", "2"),
        ("1e-05", "-0.5"),
        ("0.0", "1"),
        ("1.50", "2"),
        ("a", "1.5"),
        ("nan",),
        ("true", "false"),
        ("False", "True"),
        ("true",),
        ("true", "True"),
        ("true", "no"),
        (str(2**53 + 1), "7", "10000000000000000"),
        (),
    ],
)
def test_numbers_are_looked_up_as_on_the_service(values: tuple[str, ...]) -> None:
    """The module, which cannot import the service, agrees with it on which categories are numbers."""
    categories, code = Categories(values), _codes(values)
    assert (numbers_of(values) is not None) == categories.are_numbers
    numbers = [0.0, 1.0, 2.0, 3.0, 7.0, 14.0, 1.5, 1e-5, -0.5, 1e16, 10**16, math.inf, -math.inf, math.nan]
    for number in numbers:
        assert code(number) == pytest.approx(categories.code_of_number(number), abs=0.0, nan_ok=True)


def test_dates_are_values_and_times_are_refused() -> None:
    """The text of a time depends on its unit, and a wrong text would count as missing."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed: make develop")
    model = ScoringModel(["day"], {"day": ["2024-01-01"]}, lambda features: features[:, 0])
    days = pd.DataFrame({"day": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2), None, pd.NA, pd.NaT]})
    np.testing.assert_array_equal(model.predict(days), [0.0, *[np.nan] * 4])
    with pytest.raises(ValueError, match=r"the column day: Timestamp.* is no category"):
        model.predict(pd.DataFrame({"day": pd.to_datetime(["2024-01-01"])}))


def test_long_whole_numbers_are_values() -> None:
    """Ids of 64 bits are looked up exactly; those of float64 would be the nearest other id."""
    code = _codes(("1152921504606846977", "7"))
    assert [code(2**60 + 1), code(7), code("7")] == [0.0, 1.0, 1.0]
    assert math.isnan(code(2**60))


def test_features_are_rounded_as_the_service_rounds_them() -> None:
    """Features are rounded to the model's precision; a model without a declared precision uses float32."""
    pytest.importorskip("pandas", reason="pandas is not installed: make develop")
    scores = [
        ScoringModel(["a"], {}, lambda features: features[:, 0], *precision).predict(np.array([[0.1]]))
        for precision in ((), ("float32",), ("float64",))
    ]
    assert scores == [np.float32(0.1), np.float32(0.1), 0.1]


def test_categories_of_other_types_have_the_texts_of_the_service() -> None:
    """LightGBM writes booleans and numbers with fractions as JSON."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed: make develop")
    text = "[categorical_feature: 0,1]\npandas_categorical:[[36.5, 2.0], [false, true]]\n"
    categories = _categories(text, ["size", "new"])
    assert categories == {"size": ["36.5", "2"], "new": ["false", "true"]}
    model = ScoringModel(["size", "new"], categories, lambda features: features[:, 0] + 10 * features[:, 1])
    numbers = pd.DataFrame({"size": [36.5, 2.0, 7.0], "new": [False, True, True]})
    texts = pd.DataFrame({"size": ["36.5", "2", "7"], "new": ["false", "true", "true"]})
    for frame in (numbers, texts):
        np.testing.assert_array_equal(model.predict(frame), [0, 11, np.nan])


def test_repeated_knots_at_the_end_are_interpolated() -> None:
    """Knots at the end are repeated if there are fewer than the table holds."""
    knots, targets = np.array([0.0, 1.0, 3.0, 3.0]), np.array([-1.0, 0.0, 2.0, 2.0])
    values = _interpolated(np.array([-5.0, 0.5, 2.0, 3.0, 9.0]), knots, targets)
    assert values.tolist() == [-1.0, -0.5, 1.0, 2.0, 2.0]
