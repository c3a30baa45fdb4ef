"""Import time of the library, and its errors without the server."""

import subprocess
import sys

import pytest

_HEAVY = (
    "app",
    "core",
    "worker",
    "numpy",
    "pyarrow",
    "lightgbm",
    "numba",
    "sklearn",
    "pandas",
    "httpx",
    "pydantic",
)
_WITHOUT_SERVER = "import sys\nsys.modules.update(app=None, core=None, worker=None)\nimport rankery\n"


def python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a new interpreter."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("imported", ["import rankery", "import rankery, rankery.lightgbm; rankery.lightgbm"])
def test_imports_are_cheap(imported: str) -> None:
    """Slow packages are not imported before they are used."""
    done = python(f"{imported}\nimport sys\nprint(sorted(set({_HEAVY!r}) & sys.modules.keys()))")
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "use",
    [
        "rankery.lightgbm.objective('lambdarank')",
        "rankery.lightgbm.metric('ndcg@10')",
        "rankery.lightgbm.parameters()",
        "rankery.metrics.evaluate([1.0], [1], ['q'])",
        "rankery.compare([1.0], [1.0])",
        pytest.param("rankery.RankeryRanker().fit([[1.0]], [1], group=[1])", marks=pytest.mark.slow),
        pytest.param("rankery.RankeryAutoRanker().fit([[1.0]], [1], group=[1])", marks=pytest.mark.slow),
    ],
)
def test_the_error_without_the_server_names_the_command_to_install_it(use: str) -> None:
    """Each function of the library raises an error with the command to install the server."""
    done = python(f"{_WITHOUT_SERVER}{use}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("pip install rankery-server")


def test_the_ranker_without_scikit_learn_names_the_command_to_install_it() -> None:
    """Only the ranker needs scikit-learn; its error has the command to install it."""
    done = python("import sys\nsys.modules['sklearn'] = None\nimport rankery\nrankery.RankeryRanker")
    assert done.stderr.splitlines()[-1].endswith("pip install scikit-learn")
