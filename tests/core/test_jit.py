"""Kernels on disk."""

import subprocess
import sys
from pathlib import Path

import pytest

CALLEE = """
from core.jit import compiled
@compiled
def part(x):
    return x + {added}
"""
CALLER = """
from core.jit import compiled
from kernels.callee import part
@compiled
def whole(x):
    return part(x)
print(whole(1))
"""


@pytest.mark.long
def test_a_changed_callee_in_another_file_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba itself would load the caller with the old callee merged into it."""
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "caller.py").write_text(CALLER)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
    for added in (1, 10):
        (package / "callee.py").write_text(CALLEE.format(added=added))
        done = subprocess.run(
            [sys.executable, "-m", "kernels.caller"], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == str(1 + added)
    assert len(list((tmp_path / "cache").iterdir())) == 2
