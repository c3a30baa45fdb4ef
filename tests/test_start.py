"""Modules that a process of the service imports before it is ready."""

import subprocess
import sys

import pytest

from tests.compiling import without_collections

# A request or a job imports them when it needs them; each import takes 0.1 s to 2 s.
_LATER = {
    *("alembic", "dask", "distributed", "jax", "matplotlib", "optuna", "pandas", "plotly", "polars"),
    *("pyarrow.dataset", "scipy.special", "scipy.stats", "sklearn"),
}
_WORKER = "import core.process_start as unused; unused.leave_out_unused(); import worker.lanes"


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "absent"),
    [
        ("import app.application", _LATER | {"lightgbm", "celery", "redis"}),
        # Forked pool processes share the modules that jobs of all kinds import.
        (_WORKER, _LATER - {"scipy.special"}),
        (
            "import rankery.processes; rankery.processes.unknown_variables()",
            _LATER | {"lightgbm", "celery", "redis", "sqlalchemy", "numpy", "pyarrow", "numba"},
        ),
        # Commands such as `rankery keys` use the store alone.
        ("import core.store.database", _LATER | {"lightgbm", "celery", "numba", "pyarrow"}),
    ],
    ids=["api", "worker", "settings", "store"],
)
def test_a_start_imports_nothing_that_is_used_later(program: str, absent: set[str]) -> None:
    """Modules that are used later are not imported at start, whichever extras are installed."""
    print_imported = f"print(*sorted(name for name in {sorted(absent)!r} if sys.modules.get(name)))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", without_collections(f"import sys\n{program}\n{print_imported}")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []


def test_arrow_does_not_import_pandas() -> None:
    """Arrow's search for pandas is disabled, since the first array would import pandas."""
    program = (
        "import sys; from core.process_start import leave_out_unused; leave_out_unused()\n"
        "import pyarrow; pyarrow.array([1.0]); pyarrow.table({'a': [1]})\n"
        "import lightgbm; print(lightgbm.compat.SKLEARN_INSTALLED, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
