"""Run one training job in a separate process, so that its memory is measured alone.

Run by `benchmarks.distributed`: reads a `Task` as JSON from standard input, writes an `Outcome` to standard
output.
"""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import structlog

from benchmarks.processes import memory_by_name
from benchmarks.worker import BenchmarkWorker, JobTimes
from core.machine import peak_memory_bytes
from core.subprocesses import module_command, module_environment
from core.warm_up import warm_up
from tests.worker.ranks.processes import SignalAtStage


@dataclass(frozen=True)
class Task:
    """A job to run.

    Attributes:
        folder: Folder of the service's data.
        spec: Specification of the training.
        threads: Threads of a job that is not distributed.
        fault: Process name of a rank at a stage, and the signal to send to it; None for no signal.
        gigabits: Total bandwidth between the processes in Gbit/s, None for unlimited loopback.
    """

    folder: str
    spec: dict[str, Any]
    threads: int = 1
    fault: tuple[str, str] | None = None
    gigabits: float | None = None


@dataclass(frozen=True)
class Outcome:
    """A job that has succeeded.

    Attributes:
        times: Times of the job.
        peak_bytes: Peak resident memory of the job process, including mapped files.
        anonymous_bytes: Peak anonymous memory of each process, by `process` and `rank 0`, ….
        by_stage: Peak anonymous memory by process name, of which Linux keeps 15 characters, such as
            `rank 0 histogra`.
        recovery_seconds: Time from the fault to the next new iteration, None without a fault.
    """

    times: JobTimes
    peak_bytes: int
    anonymous_bytes: dict[str, int] = field(default_factory=dict)
    by_stage: dict[str, int] = field(default_factory=dict)
    recovery_seconds: float | None = None


def run_task(task: Task) -> Outcome:
    """Run a job in a new process.

    Raises:
        CalledProcessError: The job failed; the reason is on standard error.
    """
    with subprocess.Popen(
        [*_network(task.gigabits), *module_command("benchmarks.distributed_job")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=module_environment(),
    ) as process:
        by_name: dict[str, int] = {}
        with memory_by_name(process.pid, by_name):
            output, _ = process.communicate(json.dumps(asdict(task)))
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, "benchmarks.distributed_job")
    values = json.loads(output)
    by_process: dict[str, int] = {}
    for name, size in by_name.items():
        owner = name[:6] if name.startswith("rank ") else "process"
        by_process[owner] = max(size, by_process.get(owner, 0))
    return Outcome(
        JobTimes(**values["times"]),
        values["peak_bytes"],
        by_process,
        by_name,
        values["recovery_seconds"],
    )


def can_limit_bandwidth() -> bool:
    """Return whether this machine can run a process in a network namespace with limited bandwidth."""
    shaped = [*_network(1.0), "true"]
    return bool(shutil.which("unshare")) and subprocess.run(shaped, capture_output=True).returncode == 0


def _network(gigabits: float | None) -> list[str]:
    """Return a command prefix that runs a command in a network namespace with limited loopback bandwidth."""
    if gigabits is None:
        return []
    shape = f"tc qdisc add dev lo root tbf rate {gigabits:g}gbit burst 256kb latency 500ms"
    return ["unshare", "-n", "sh", "-c", f'ip link set lo up && {shape} && exec "$@"', "sh"]


def _main() -> None:
    task = Task(**json.load(sys.stdin))
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    warm_up()
    # A checkpoint after each tree, so that a fault loses only the current tree.
    settings = {"checkpoint_seconds": 0.0} if task.fault else {}
    worker = BenchmarkWorker(Path(task.folder), task.threads, **settings)
    signaller = SignalAtStage(task.fault[0], signal.Signals[task.fault[1]]) if task.fault else None
    if signaller is not None:
        signaller.start()
    times = worker.train(task.spec)
    worker.close()
    recovery = None
    if signaller is not None:
        recovery = next(at for at in times.iterated_at if at > signaller.sent_at[0]) - signaller.sent_at[0]
    outcome = {"times": asdict(times), "peak_bytes": peak_memory_bytes(), "recovery_seconds": recovery}
    json.dump(outcome, sys.stdout)


if __name__ == "__main__":
    _main()
