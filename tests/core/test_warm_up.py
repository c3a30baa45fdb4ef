"""Compilation of kernels ahead of time, in child processes that share one cache."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel_cache import kernel_cache
from core.warm_up import PARTS, compilation
from tests.compiling import without_collections

ROOT = Path(__file__).parents[2]
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE = 24, 1

# Two parts of few kernels and few imports; a program that loads them counts the kernels that the cache lacks.
BEGIN = """
import gc, os, signal, sys, time
from pathlib import Path
from core.process_start import leave_out_unused
leave_out_unused()
from numba.core.dispatcher import Dispatcher
from core.errors import KernelsNotReady
from core.kernel_cache import kernel_cache
from core.kernel_compiler import KernelDispatcher
from core.warm_up import PARTS, compile_kernels, missing_parts, warm_up

FEW = [part for part in PARTS if part.name in ("bootstrap", "shuffles")]

def count_compiled():
    kernels = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)

def children():
    threads = Path("/proc/self/task").iterdir()
    return [int(pid) for thread in threads for pid in (thread / "children").read_text().split()]
"""
COMPILE = """
compile_kernels(FEW, processes=2)
assert missing_parts(FEW) == []
"""
LOAD = """
warm_up(FEW)
print(count_compiled(), kernel_cache())
"""

# Prints the kernels that no part loads, apart from those that are called by kernels.
LOAD_ALL = """
import importlib, types, core
root = Path(core.__path__[0])
for path in root.rglob("*.py"):
    if "from core.jit import" in path.read_text():
        importlib.import_module(".".join(path.relative_to(root.parent).with_suffix("").parts))
warm_up()

def named(function):
    names = function.__code__.co_names
    found = [function.__globals__.get(name) for name in names]
    modules = [each for each in found if isinstance(each, types.ModuleType)]
    found += [getattr(module, name, None) for module in modules for name in names]
    return {id(each) for each in found}

kernels = [thing for thing in gc.get_objects() if isinstance(thing, KernelDispatcher)]
called = set().union(*(named(kernel.py_func) for kernel in kernels))
print(*(kernel.__qualname__ for kernel in kernels if not kernel.signatures and id(kernel) not in called))
"""


def start(program: str, cache: Path, **environment: str) -> "subprocess.Popen[str]":
    """Start a program with a folder as its cache; read-only files are read-only for root, too."""
    return subprocess.Popen(
        [sys.executable, "-c", without_collections(BEGIN + program)],
        env=os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0),
    )


def finish(process: "subprocess.Popen[str]") -> list[str]:
    """Wait for a program that must succeed; return the words of its last line."""
    printed, _ = process.communicate()
    assert process.returncode == 0, printed[-3000:]
    return (printed.strip().splitlines() or [""])[-1].split()


def run(program: str, cache: Path, **environment: str) -> list[str]:
    """Start a program and wait for it."""
    return finish(start(program, cache, **environment))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A cache that holds the parts, and the output of the process that compiled them; to be copied."""
    folder = tmp_path_factory.mktemp("compiled")
    return folder, run(COMPILE + LOAD, folder)


@pytest.fixture
def cache(compiled: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A cache of this test that holds the parts."""
    return shutil.copytree(compiled[0], tmp_path / "cache")


@pytest.fixture
def read_only() -> "Callable[[Path], Path]":
    """A function that makes a folder and its content read-only."""

    def protect(folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        return folder

    return protect


def test_each_part_depends_on_earlier_parts_only() -> None:
    """A part that waits for a later or unknown part would never be compiled."""
    functions = [part.warm_up for part in PARTS]
    assert len(set(functions)) == len(functions)
    for index, part in enumerate(PARTS):
        assert set(part.after) <= set(functions[:index])


@pytest.mark.long
def test_every_kernel_is_compiled_by_a_part() -> None:
    """A request that needs another kernel would wait for its compilation."""
    assert run(LOAD_ALL, kernel_cache()) == []


def test_another_process_may_compile_the_last_part_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two services that start together compile nothing twice, and neither fails."""
    answers = [list(PARTS[:1])]
    monkeypatch.setattr(compilation, "missing_parts", lambda _: answers.pop() if answers else [])
    monkeypatch.setattr(compilation, "_run_children", lambda *_: "")
    compilation.compile_kernels(PARTS[:1])


@pytest.mark.long
def test_the_calling_process_compiles_nothing_itself(compiled: tuple[Path, list[str]]) -> None:
    """Child processes compile, so that their memory is freed; the caller loads all kernels from the cache.

    The test of kernels that cannot be kept shows that compiled kernels are counted.
    """
    assert compiled[1][0] == "0"


@pytest.mark.long
@pytest.mark.slow  # tests/core/test_jit.py tests this with one kernel
def test_two_services_share_the_work(tmp_path: Path) -> None:
    """Both services start on one empty cache at the same time; each ends with all kernels, none lost."""
    services = [start(COMPILE + LOAD, tmp_path) for _ in range(2)]
    assert [finish(service)[0] for service in services] == ["0", "0"]


@pytest.mark.long
@pytest.mark.slow  # the next test kills children, too
def test_a_child_that_is_killed_is_replaced(tmp_path: Path) -> None:
    """Linux kills children for lack of memory: a single child, which needs less memory, continues."""
    program = """
killed = []
def report(progress):
    if not killed:
        killed.extend(children())
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
compile_kernels(FEW, processes=2, report=report)
assert len(killed) == 2 and missing_parts(FEW) == []
"""
    run(program + LOAD, tmp_path)


@pytest.mark.long
def test_children_that_are_always_killed_end_in_an_error(tmp_path: Path) -> None:
    """The error names the part and how the child ended, and no child is left."""
    program = """
try:
    compile_kernels(FEW, report=lambda _: [os.kill(pid, signal.SIGKILL) for pid in children()])
except KernelsNotReady as error:
    print(error, children())
"""
    printed = " ".join(run(program, tmp_path))
    assert printed == (
        "cannot be compiled (bootstrap): the compiling process was killed by SIGKILL,"
        " perhaps because of insufficient memory []"
    )


@pytest.mark.long
def test_a_stop_leaves_no_child(tmp_path: Path) -> None:
    """A shutdown does not wait for a compiler."""
    lines = "compile_kernels(stopped=lambda: True); print(children(), len(missing_parts()))"
    assert run(lines, tmp_path) == ["[]", str(len(PARTS))]


@pytest.mark.long
def test_a_read_only_cache_is_read(cache: Path, read_only: Callable[[Path], Path]) -> None:
    """Kernels of a cache without write permission are loaded, as in an image."""
    assert run(LOAD, read_only(cache)) == ["0", str(cache)]


@pytest.mark.long
@pytest.mark.slow  # the previous test reads such a cache
def test_a_read_only_cache_of_another_processor_is_left_for_one_of_the_user(
    cache: Path, tmp_path: Path, read_only: Callable[[Path], Path]
) -> None:
    """The cached kernels would not run on this processor; new ones go to the cache folder of the user."""
    home = tmp_path / "home"
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "XDG_CACHE_HOME": str(home)}
    assert run(COMPILE + LOAD, read_only(cache), **other) == ["0", str(home / "rankery" / "kernels")]


@pytest.mark.long
@pytest.mark.slow  # the previous test has kernels of two processors
def test_processors_share_a_writable_cache(cache: Path) -> None:
    """Each processor loads the kernels compiled for it, whichever compiled first."""
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert run("print(len(missing_parts(FEW)))", cache, **other) == ["2"]
    run(COMPILE, cache, **other)
    assert run(LOAD, cache)[0] == run(LOAD, cache, **other)[0] == "0"


@pytest.mark.long
@pytest.mark.slow  # four seconds for a debugging aid of numba
def test_uncompiled_functions_do_not_mark_kernels_as_compiled(tmp_path: Path) -> None:
    """With NUMBA_DISABLE_JIT set, the parts run without making a kernel."""
    run(COMPILE, tmp_path, NUMBA_DISABLE_JIT="1")
    assert run("print(len(missing_parts(FEW)))", tmp_path) == ["2"]


@pytest.mark.long
def test_kernels_that_cannot_be_kept_still_run(tmp_path: Path, read_only: Callable[[Path], Path]) -> None:
    """Without any folder to write to, each process compiles for itself, and logs a solution."""
    folder = read_only(tmp_path / "image")
    process = start("FEW = FEW[:1]\ncompile_kernels(FEW)\n" + LOAD, folder, XDG_CACHE_HOME=str(folder))
    printed, _ = process.communicate()
    assert process.returncode == 0, printed
    assert "run `rankery warm-up` as a user who can write" in printed
    assert int(printed.strip().splitlines()[-1].split()[0]) > 0


@pytest.mark.long
@pytest.mark.slow  # the previous test runs such kernels
def test_kernels_that_are_not_kept_have_no_mark(cache: Path, read_only: Callable[[Path], Path]) -> None:
    """A mark would make the next start expect missing kernels, for example after the disk was full."""
    shutil.rmtree(next(cache.glob("warm-*")))
    (kernels,) = cache.glob("inspection-*")
    for index in kernels.rglob("*.nbi"):
        index.unlink()
    read_only(kernels)
    program = """
try:
    compile_kernels(FEW)
except KernelsNotReady as error:
    print([part.name for part in missing_parts(FEW)], error)
"""
    printed = " ".join(run(program, cache))
    assert printed.startswith("['shuffles'] cannot be compiled (shuffles): Permission")
