"""What a container allows, read from control groups in folders made for the purpose."""

import math
import os
from pathlib import Path

import pytest

from core.machine import ControlGroups, available_cpus, available_memory_bytes


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
    """Of both versions, with the groups above, whatever path the container knows itself by."""
    groups = _groups(tmp_path, membership, files)
    assert (groups.cpus(), groups.memory_bytes()) == (cpus, memory_bytes)


def test_threads_come_from_the_quota_and_the_affinity(tmp_path: Path) -> None:
    """Whichever is less; a part of a processor is a thread, and nobody gets none."""
    allowed = len(os.sched_getaffinity(0))
    for quota, threads in ((1, 1), (100_000, 1), (100_001, min(2, allowed)), (100_000 * 1_000, allowed)):
        groups = _groups(tmp_path, "0::/\n", {"cpu.max": f"{quota} 100000"})
        assert available_cpus(groups) == threads
    assert available_cpus(ControlGroups(tmp_path / "nowhere", tmp_path / "nowhere")) == allowed


def test_memory_is_that_of_the_machine_or_the_container(tmp_path: Path) -> None:
    """Whichever is less."""
    machine = available_memory_bytes(ControlGroups(tmp_path / "nowhere", tmp_path / "nowhere"))
    assert machine is not None
    assert machine % 1024 == 0
    assert available_memory_bytes(_groups(tmp_path, "0::/\n", {"memory.max": "12345"})) == 12_345
    assert available_memory_bytes(_groups(tmp_path, "0::/\n", {"memory.max": str(2**62)})) == machine
