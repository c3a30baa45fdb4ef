"""Kernels on disk."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

ELF = b"\x7fELF"
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
def test_a_changed_callee_in_another_file_is_compiled_again(
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


@pytest.mark.long
def test_only_what_python_calls_is_made_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of a kernel that only kernels call is within them."""
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "callee.py").write_text(CALLEE.format(added=1))
    (package / "caller.py").write_text(CALLER)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
    subprocess.run([sys.executable, "-m", "kernels.caller"], capture_output=True, check=True)
    kept = {path.name.split("-")[0]: path.read_bytes() for path in (tmp_path / "cache").rglob("*.nbc")}
    assert {kernel: ELF in content for kernel, content in kept.items()} == {
        "caller.whole": True,
        "callee.part": False,
    }


# Too long for LLVM to merge into callers unless it must.
PART = "\n".join(f"        y[i] = y[i] * x[i] + np.sqrt(x[i] + {number}.0)" for number in range(40))
ORDERED = f"""
import re
import numpy as np
from core.jit import bare, compiled, inlined
@bare
def part(x, y):
    for i in range(len(x)):
{PART}
@inlined
def middle(x, y):
    part(x, y)
@compiled
def whole(x, y):
    middle(x, y)
    middle(y, x)
@compiled
def other(x, y):
    part(x, y)
kernels = dict(whole=whole, other=other, part=part)
for name in (__name__.partition(".")[2], "whole"):
    kernels[name](np.ones(3), np.ones(3))
(merged,) = (result.library for result in part.overloads.values())
(code,) = (result.library.get_asm_str() for result in whole.wrapped.values())
print(type(merged), re.findall(r"^\\t[a-z].*", re.sub(r"[\\w.$]*_ZN[\\w.$]*", "", code), re.MULTILINE))
"""


@pytest.mark.slow
@pytest.mark.long
def test_a_kernel_has_the_same_code_whatever_was_compiled_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba alone would copy options from the first caller, and merge what Python called."""
    package = tmp_path / "kernels"
    package.mkdir()
    first = ("whole", "other", "part")
    for name in first:
        (package / f"{name}.py").write_text(ORDERED)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
    command = [sys.executable, "-c", "; ".join(f"import kernels.{name}" for name in first)]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(code) == len(first)
    assert len(set(code)) == 1


SIGNATURES = 2
SHARED = """
import sys, time
import numpy as np
from core.jit import compiled
@compiled
def dimensions(array):
    return array.ndim
array = np.zeros((1,) * int(sys.argv[1]))
time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
assert dimensions(array) == int(sys.argv[1])
print(sum(dimensions.stats.cache_misses.values()))
"""


@pytest.mark.long
def test_processes_that_compile_one_kernel_at_the_same_time_lose_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba alone would write an index that lacks some signatures, or gives two of them one file."""
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "shared.py").write_text(SHARED)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")

    def printed(at: float) -> list[str]:
        commands = [[sys.executable, "-m", "kernels.shared", str(n + 1), str(at)] for n in range(SIGNATURES)]
        started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
        return [process.communicate()[0].strip() for process in started]

    assert printed(time.time() + 2) == ["1"] * SIGNATURES
    assert printed(0.0) == ["0"] * SIGNATURES
