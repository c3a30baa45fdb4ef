"""`make test-faults`: run jobs under every fault and print tables; the exit code is 0 without problems."""

import argparse
import math
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tests.faults.campaign import Campaign
from tests.faults.faults import NOTHING, ON_ONE_DISK, ON_SERVERS, TWO_WORKERS, Fault
from tests.faults.installation import Installation, Servers, on_one_disk, on_servers
from tests.faults.recovery import Recovery, measure_recovery
from tests.faults.resume import SETTINGS, Killed, kill_and_resume
from tests.faults.table import show_faults, show_recoveries, show_resumed
from tests.faults.verdict import Row
from tests.faults.work import automatic

TWO, RECOVERY, RESUME = "two-workers", "recovery", "resume"
PARTS = (*ON_SERVERS, TWO, RECOVERY, RESUME, *ON_ONE_DISK)
_SHORT_ITERATIONS = 40


@dataclass
class Run:
    """Runs of the wanted parts, one after the other.

    Attributes:
        folder: Folder of logs and data.
        wanted: Some of `PARTS`.
        bar: Progress bar.
        batch: Number of jobs under each fault.
        seed: Seed of random moments and victims.
        mount: Whether a small disk may be mounted.
        kills: Number of trainings that are killed and resumed.
        rows: Results of the batches, one per fault.
        recoveries: Recovery times.
        killed: The killed trainings.
    """

    folder: Path
    wanted: Collection[str]
    bar: Progress
    batch: int
    seed: int
    mount: bool
    kills: int
    rows: list[Row] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    killed: list[Killed] = field(default_factory=list)
    _n_started: int = 0

    def __post_init__(self) -> None:
        self._task = self.bar.add_task("starting", total=len(self.wanted))

    def execute(self) -> None:
        """Run all wanted parts."""
        if set(self.wanted) - set(ON_ONE_DISK):
            with Servers.running(self.folder) as servers:
                self._on_servers(servers)
        if set(self.wanted) & set(ON_ONE_DISK):
            with on_one_disk(self.folder / "small", mount=self.mount) as installation:
                assert installation.disk is not None
                self.bar.log(f"full disk: {installation.disk.method}")
                with self._campaign(installation) as campaign:
                    self._run_faults(campaign, ON_ONE_DISK)
        self.bar.update(self._task, description="done", completed=self._n_started)

    def _on_servers(self, servers: Servers) -> None:
        if set(self.wanted) - set(ON_ONE_DISK) - {RESUME}:
            with on_servers(servers, "faults") as installation, self._campaign(installation) as campaign:
                self._run_faults(campaign, ON_SERVERS)
                if TWO in self.wanted:
                    self._report_start(TWO_WORKERS.name)
                    self.rows.append(campaign.run_batch(TWO_WORKERS, 50, _SHORT_ITERATIONS))
                if RECOVERY in self.wanted:
                    self._report_start("time until a job runs again")
                    self.recoveries = measure_recovery(campaign, kills=5)
        if RESUME in self.wanted:
            with (
                on_servers(servers, "resume", settings=SETTINGS) as installation,
                self._campaign(installation) as campaign,
            ):
                self._report_start("kills at random iterations")
                self.killed = kill_and_resume(campaign, self.kills)
                self.killed += kill_and_resume(campaign, self.kills // 2, automatic)

    @contextmanager
    def _campaign(self, installation: Installation) -> Iterator[Campaign]:
        self.bar.update(self._task, description="creating datasets and models")
        with Campaign.on(installation, self.seed) as campaign:
            yield campaign

    def _run_faults(self, campaign: Campaign, faults: Mapping[str, Fault]) -> None:
        """Run an undisturbed batch, then a batch under each wanted fault."""
        chosen = [fault for name, fault in faults.items() if name in self.wanted]
        if chosen:
            self.bar.update(self._task, description=NOTHING.name)
            self.rows.append(campaign.run_batch(NOTHING, self.batch))
        for fault in chosen:
            self._report_start(fault.name)
            self.rows.append(campaign.run_batch(fault, self.batch))

    def _report_start(self, part: str) -> None:
        """Log the part that starts, and show it at the progress bar."""
        self.bar.log(part)
        self.bar.update(self._task, description=part, completed=self._n_started)
        self._n_started += 1


def main() -> int:
    """Run the parts that the arguments select."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=120, help="jobs in all, shared among the faults")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--kills", type=int, default=20, help="trainings that are killed and resumed")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--no-mount", action="store_true", help="limit processes instead of filling a disk")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep logs and data here")
    arguments = parser.parse_args()
    wanted = [part for part in PARTS if part in arguments.only.split(",")]
    console = Console(width=None if sys.stdout.isatty() else 160)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        tempfile.TemporaryDirectory(prefix="rankery-faults-") as name,
        Progress(*columns, console=console) as bar,
    ):
        batch = math.ceil(arguments.jobs / len((*ON_SERVERS, *ON_ONE_DISK)))
        folder = arguments.keep or Path(name)
        run = Run(folder, wanted, bar, batch, arguments.seed, not arguments.no_mount, arguments.kills)
        run.execute()
    return 0 if _show_results(console, run) else 1


def _show_results(console: Console, run: Run) -> bool:
    """Print the results as tables, and return whether all are good."""
    verdicts = [
        not run.rows or show_faults(console, run.rows),
        not run.recoveries or show_recoveries(console, run.recoveries),
        not run.killed or show_resumed(console, run.killed),
    ]
    return all(verdicts)


if __name__ == "__main__":
    sys.exit(main())
