"""One training job in a separate process, so that no other work counts as its memory.

Run by `benchmarks.distributed`: a `Task` as JSON on the standard input, an `Outcome` on the standard output.
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
from tests.worker.ranks.processes import Strike


@dataclass(frozen=True)
class Task:
    """A job to run.

    Attributes:
        folder: Folder of the service's data.
        spec: Specification of the training.
        threads: Threads of the job where it is not distributed.
        strike: The name of a rank with its stage, and the signal that it gets there; or nothing.
        gigabits: Bandwidth of all that the processes send each other together, None for that of loopback.
    """

    folder: str
    spec: dict[str, Any]
    threads: int = 1
    strike: tuple[str, str] | None = None
    gigabits: float | None = None


@dataclass(frozen=True)
class Outcome:
    """A job that has succeeded.

    Attributes:
        times: Its times.
        peak_bytes: Most resident memory of the process that ran it, mapped files included.
        anonymous_bytes: Most anonymous memory of each process, by `process` and `rank 0`, ….
        by_stage: The same by the names of processes, `rank 0 histogra`.
        recovery_seconds: From the strike to the next iteration that is new, if there was one.
    """

    times: JobTimes
    peak_bytes: int
    anonymous_bytes: dict[str, int] = field(default_factory=dict)
    by_stage: dict[str, int] = field(default_factory=dict)
    recovery_seconds: float | None = None


def run_task(task: Task) -> Outcome:
    """Run a job in a new process.

    Raises:
        CalledProcessError: It failed; the reason is on the standard error.
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


def can_shape() -> bool:
    """Return whether a process may have a separate network here, with less bandwidth."""
    shaped = [*_network(1.0), "true"]
    return bool(shutil.which("unshare")) and subprocess.run(shaped, capture_output=True).returncode == 0


def _network(gigabits: float | None) -> list[str]:
    """Return the command that starts another in a network namespace whose loopback has a bandwidth."""
    if gigabits is None:
        return []
    shape = f"tc qdisc add dev lo root tbf rate {gigabits:g}gbit burst 256kb latency 500ms"
    return ["unshare", "-n", "sh", "-c", f'ip link set lo up && {shape} && exec "$@"', "sh"]


def _main() -> None:
    task = Task(**json.load(sys.stdin))
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    warm_up()
    # A checkpoint after each tree, so that a strike costs no tree but the one it hits.
    settings = {"checkpoint_seconds": 0.0} if task.strike else {}
    worker = BenchmarkWorker(Path(task.folder), task.threads, **settings)
    strike = Strike(task.strike[0], signal.Signals[task.strike[1]]) if task.strike else None
    if strike is not None:
        strike.start()
    times = worker.train(task.spec)
    worker.close()
    recovery = None
    if strike is not None:
        recovery = next(at for at in times.iterated_at if at > strike.struck_at[0]) - strike.struck_at[0]
    outcome = {"times": asdict(times), "peak_bytes": peak_memory_bytes(), "recovery_seconds": recovery}
    json.dump(outcome, sys.stdout)


if __name__ == "__main__":
    _main()
