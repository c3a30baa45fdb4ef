"""The disk cache of compiled kernels: recompilation, machine code and locks."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from numba.core.caching import FunctionCache

from core import kernel_cache
from core.kernel_cache import KernelCache, exclusive

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


class CallerRun(NamedTuple):
    """Output of the caller in one process, and the files of kernels in the cache afterwards."""

    printed: str
    cached: dict[str, bytes]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, CallerRun]:
    """Runs of the caller with one callee and then with another, by the number that the callee adds."""
    folder = tmp_path_factory.mktemp("changed")
    package, cache = folder / "kernels", folder / "cache"
    package.mkdir()
    (package / "caller.py").write_text(CALLER)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": f"{folder}:{Path(__file__).parents[2]}",
    }
    runs = {}
    for added in (1, 10):
        (package / "callee.py").write_text(CALLEE.format(added=added))
        command = [sys.executable, "-m", "kernels.caller"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        cached = {str(path.relative_to(cache)): path.read_bytes() for path in cache.rglob("*.nbc")}
        runs[added] = CallerRun(done.stdout.strip(), cached)
    return runs


@pytest.mark.long
def test_a_changed_callee_in_another_file_is_compiled_again(runs: dict[int, CallerRun]) -> None:
    """Numba itself would load the caller with the old callee merged into it."""
    assert [run.printed for run in runs.values()] == ["2", "11"]
    assert len({path.partition("/")[0] for path in runs[10].cached}) == 2


@pytest.mark.long
def test_only_kernels_that_python_calls_become_machine_code(runs: dict[int, CallerRun]) -> None:
    """The code of a kernel that only other kernels call is within its callers."""
    cached = {Path(path).name.partition("-")[0]: content for path, content in runs[1].cached.items()}
    assert {kernel: ELF in content for kernel, content in cached.items()} == {
        "caller.whole": True,
        "callee.part": False,
    }


# Too long for LLVM to merge into callers unless it must.
PART = "\n".join(f"        y[i] = y[i] * x[i] + np.sqrt(x[i] + {number}.0)" for number in range(40))
ORDERED = f"""
import re
import numpy as np
from core.jit import nonallocating, compiled, inlined
@nonallocating
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
    """With numba alone, the code would depend on the first caller and on earlier calls by Python."""
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


def test_an_index_of_kernels_is_written_under_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process would wait, since it cannot take the lock of the folder meanwhile."""
    saved = []

    def save(cache: KernelCache, *_: object) -> None:
        with pytest.raises(BlockingIOError), exclusive(tmp_path / ".lock", wait=False):
            pass
        saved.append(cache)

    monkeypatch.setattr(FunctionCache, "_save_overload", save)
    cache = KernelCache.__new__(KernelCache)  # its constructor would make another folder
    cache._cache_path = str(tmp_path)
    cache._save_overload(None, None)
    assert (saved, cache.failures) == ([cache], [])


# Two processes at a time, forked after the import of Numba; the exit code is 10 plus the compiled signatures.
SHARED = """
import os
import numpy as np
from core.jit import compiled
@compiled
def dimensions(array):
    return array.ndim
for _ in range(2):
    start, go = os.pipe()
    children = []
    for number in (1, 2):
        children.append(os.fork())
        if not children[-1]:
            os.close(go)
            os.read(start, 1)
            assert dimensions(np.zeros((1,) * number)) == number
            os._exit(10 + sum(dimensions.stats.cache_misses.values()))
    os.close(go)
    print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


@pytest.mark.long
@pytest.mark.slow  # the race that the lock prevents is rare
def test_processes_that_compile_one_kernel_at_the_same_time_lose_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba alone would write an index that lacks some signatures, or gives two of them one file."""
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "shared.py").write_text(SHARED)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
    command = [sys.executable, "-m", "kernels.shared"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.splitlines() == ["[11, 11]", "[10, 10]"]


def test_a_user_without_a_home_folder_has_the_default_folder_of_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Containers run as user ids that no file of users has, and HOME may be unset."""
    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54_321)
    with pytest.raises(RuntimeError):
        Path.home()
    beside_sources = Path(kernel_cache.__file__).parent / "__pycache__" / "kernels"
    monkeypatch.setattr(kernel_cache, "warmed_parts", lambda folder: folder / "absent")
    for is_writable in (True, False):
        monkeypatch.setattr(kernel_cache, "is_writable", lambda _, writable=is_writable: writable)
        assert kernel_cache.kernel_cache.__wrapped__() == beside_sources
