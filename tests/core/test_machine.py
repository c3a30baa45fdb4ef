"""Limits of a container, read from control groups in prepared folders."""

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.machine import (
    ControlGroups,
    available_cpus,
    available_memory_bytes,
    limit_threads,
    peak_memory_bytes,
    process_memory_bytes,
    release_heap,
)


def _groups(folder: Path, membership: str, files: dict[str, str]) -> ControlGroups:
    (folder / "membership").write_text(membership)
    for name, content in files.items():
        path = folder / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return ControlGroups(folder / "membership", folder / "cgroup")


@pytest.mark.parametrize(
    ("membership", "files", "cpus", "memory_bytes"),
    [
        pytest.param("0::/\n", {"cpu.max": "150000 100000", "memory.max": "4096"}, 1.5, 4096, id="v2"),
        pytest.param(
            "0::/\n", {"cpu.max": "max 100000", "memory.max": "max"}, math.inf, math.inf, id="v2-max"
        ),
        pytest.param(
            "0::/a/b\n",
            {"a/cpu.max": "100000 100000", "a/b/cpu.max": "400000 100000", "a/b/memory.max": "8192"},
            1.0,
            8192,
            id="v2-the-parent-is-tighter",
        ),
        pytest.param(
            "0::/../../other\n",
            {"cpu.max": "200000 100000", "../memory.max": "1"},
            2.0,
            math.inf,
            id="v2-beside",
        ),
        pytest.param(
            "5:memory:/\n4:cpuset:/\n3:cpu,cpuacct:/\n",
            {
                "cpu,cpuacct/cpu.cfs_quota_us": "50000",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": "2048",
            },
            0.5,
            2048,
            id="v1",
        ),
        pytest.param(
            "5:memory:/docker/0f3a\n3:cpu,cpuacct:/docker/0f3a\n",
            {
                "cpu/cpu.cfs_quota_us": "300000",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": "9223372036854771712",
            },
            3.0,
            9223372036854771712,
            id="v1-path-of-the-host",
        ),
        pytest.param(
            "0::/a\n",
            {"cpuset.cpus.effective": "0-63", "a/cpuset.cpus.effective": "0-1,4", "a/cpu.max": "max 100000"},
            3.0,
            math.inf,
            id="v2-cpuset",
        ),
        pytest.param(
            "0::/\n",
            {"cpuset.cpus.effective": "", "cpu.max": "max 100000"},
            math.inf,
            math.inf,
            id="v2-no-cpuset",
        ),
        pytest.param(
            "4:cpuset:/docker/0f3a\n3:cpu,cpuacct:/docker/0f3a\n",
            {
                "cpuset/cpuset.cpus": "2-5",
                "cpu,cpuacct/cpu.cfs_quota_us": "600000",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
            4.0,
            math.inf,
            id="v1-cpuset-is-tighter-than-the-quota",
        ),
        pytest.param(
            "2:cpu:/\n0::/\n",
            {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000", "unified/memory.max": "1024"},
            math.inf,
            1024,
            id="both",
        ),
        pytest.param("0::/\n", {}, math.inf, math.inf, id="nothing-mounted"),
        pytest.param("0::/\n", {"cpu.max": "", "memory.max": "much"}, math.inf, math.inf, id="not-numbers"),
    ],
)
def test_limits_are_those_of_the_tightest_group(
    tmp_path: Path, membership: str, files: dict[str, str], cpus: float, memory_bytes: float
) -> None:
    """Limits of both versions and of parent groups count, whatever path the container has."""
    groups = _groups(tmp_path, membership, files)
    assert (groups.cpus(), groups.memory_bytes()) == (cpus, memory_bytes)


def test_threads_come_from_the_quota_and_the_affinity(tmp_path: Path) -> None:
    """The smaller number applies; a part of a processor is a thread, and the minimum is one."""
    allowed = len(os.sched_getaffinity(0))
    for quota, threads in ((1, 1), (100_000, 1), (100_001, min(2, allowed)), (100_000 * 1_000, allowed)):
        groups = _groups(tmp_path, "0::/\n", {"cpu.max": f"{quota} 100000"})
        assert available_cpus(groups) == threads
    assert available_cpus(ControlGroups(tmp_path / "nowhere", tmp_path / "nowhere")) == allowed


def test_memory_is_that_of_the_machine_or_the_container(tmp_path: Path) -> None:
    """The smaller size applies."""
    machine = available_memory_bytes(ControlGroups(tmp_path / "nowhere", tmp_path / "nowhere"))
    assert machine is not None
    assert machine % 1024 == 0
    assert available_memory_bytes(_groups(tmp_path, "0::/\n", {"memory.max": "12345"})) == 12_345
    assert available_memory_bytes(_groups(tmp_path, "0::/\n", {"memory.max": str(2**62)})) == machine


@pytest.fixture
def one_processor() -> Iterator[Path]:
    """A control group with the time of one processor, of the version that this machine uses."""
    for parent, file, quota in (
        (Path("/sys/fs/cgroup/cpu"), "cpu.cfs_quota_us", "100000"),
        (Path("/sys/fs/cgroup"), "cpu.max", "100000 100000"),
    ):
        group = parent / f"rankery-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / file).write_text(quota)
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("no control group can be made: run as root with a writable /sys/fs/cgroup")


PROGRAM = """
import os, sys
from pathlib import Path
Path(sys.argv[1], "cgroup.procs").write_text(str(os.getpid()))
from core.machine import available_cpus, limit_threads
limit_threads()
import pyarrow
from core import ranges
from threadpoolctl import threadpool_info
import lightgbm, numpy
most = max(library["num_threads"] for library in threadpool_info())
from worker import WorkerSettings
print(available_cpus(), ranges._threads.count, most, pyarrow.cpu_count(), WorkerSettings().threads_per_job)
Path(sys.argv[1]).parent.joinpath("cgroup.procs").write_text(str(os.getpid()))
"""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(available_cpus() < 2, reason="two processors are needed")
def test_a_container_of_one_processor_computes_in_one_thread(one_processor: Path) -> None:
    """All take their default from the quota: OpenMP, kernels, BLAS, Arrow and the worker."""
    bare = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    command = [sys.executable, "-c", PROGRAM, str(one_processor)]
    ran = subprocess.run(command, env=bare, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["1"] * 5


def test_chosen_numbers_of_threads_stay() -> None:
    """A library's environment variable stays, and a user's setting applies to the other libraries."""
    environment = {"OMP_NUM_THREADS": "7"}
    limit_threads(environment, requested=1_000)
    assert environment == {"OMP_NUM_THREADS": "7", "OPENBLAS_NUM_THREADS": "1000"}
    limited: dict[str, str] = {}
    limit_threads(limited)
    assert set(limited.values()) == {str(available_cpus())}


@pytest.mark.long
@pytest.mark.skipif(peak_memory_bytes() is None, reason="memory is known on Linux only")
def test_the_peak_of_a_process_is_its_own() -> None:
    """The memory of a large parent process does not count; memory that the process has freed does."""
    held = bytearray(2**28)
    command = "from core.machine import peak_memory_bytes as peak; x = bytearray(2**26); del x; print(peak())"
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert 2**26 < int(result.stdout) < 2**27
    assert len(held) < (peak_memory_bytes() or 0)


@pytest.mark.skipif(process_memory_bytes() is None, reason="memory is known on Linux only")
def test_free_memory_is_returned() -> None:
    """The C library keeps freed memory between pieces in use, until `release_heap`."""
    pieces = [np.zeros(1_000, np.uint8) for _ in range(100_000)]
    kept = pieces[::100]
    del pieces
    before = process_memory_bytes() or 0
    release_heap()
    assert before - (process_memory_bytes() or 0) > 40 * 2**20
    assert len(kept) == 1_000
