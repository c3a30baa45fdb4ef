"""Drive a training on several ranks, in the process that holds the job's lease."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog

from core.errors import RanksLost
from core.training import Checkpoint, IterationReport, TrainedRanker, TrainingSpec
from core.training.distribution import Distribution
from core.training.grower import portable_text
from core.training.growth import growth_of
from core.training.history import History
from core.training.leaf_counts import with_counts
from worker.job.lease import WorkerStopping
from worker.job.limits import LimitReached
from worker.job.run import JobRun
from worker.job.training_data import TrainingData
from worker.job.watch import TrainingWatch
from worker.ranks.identity import Identity
from worker.ranks.leader import Leader, means, slowest
from worker.ranks.placement import Placement
from worker.ranks.sharing import Sharing
from worker.ranks.team import RankLost, Team

_MAX_CONSECUTIVE_RANK_LOSSES = 3  # losses of ranks in a row, without another tree between them
_CONDITION_FIELDS = ("memory_bytes", "peak_memory_bytes", "sent_bytes", "waiting_share")
_log = structlog.stdlib.get_logger(__name__)


class DistributedTraining:
    """A training on ranks; all restart from the last checkpoint when a rank is lost.

    Args:
        data: Datasets, with the features of the training data.
    """

    def __init__(
        self,
        run: JobRun,
        spec: TrainingSpec,
        distribution: Distribution,
        data: TrainingData,
        placement: Placement,
        watch: TrainingWatch,
        start: Checkpoint | None,
    ) -> None:
        self._run = run
        self._spec = spec
        self._distribution = distribution
        self._dataset = data.training.dataset
        self._validates = data.validation is not None
        held_out = {"validation": data.validation} if data.validation is not None else {}
        self._sharing = Sharing(run, spec, distribution, {"train": data.training, **held_out})
        self._placement = placement
        self._watch = watch
        self._state = start
        self._restarts = 0
        self._reported_iteration = start.iteration if start else 0

    def train(self) -> TrainedRanker:
        """Train on ranks; restart all ranks after a rank is lost.

        Raises:
            RanksLost: Ranks are lost repeatedly before another tree is grown.
            ClusterUnavailable: Too few ranks can be started.
            InvalidInput: The specification is invalid for the data.
            LimitReached: A rank needs more memory than its limit.
        """
        rank_losses, iteration_at_loss = 0, -1
        while True:
            try:
                with self._team() as team:
                    return self._train_with(team)
            except RankLost as lost:
                rank_losses = 1 if self._reported_iteration > iteration_at_loss else rank_losses + 1
                iteration_at_loss = self._reported_iteration
                self._restarts += 1
                _log.warning("rank.lost", why=str(lost), restarts=self._restarts)
                if rank_losses > _MAX_CONSECUTIVE_RANK_LOSSES:
                    raise RanksLost(
                        f"{lost}; ranks were lost {rank_losses} times without another tree"
                    ) from lost

    @contextmanager
    def _team(self) -> Iterator[Team]:
        run, distribution = self._run, self._distribution
        max_ranks = self._sharing.max_ranks()
        run.reporter.phase("starting ranks")
        n_ranks = self._placement.available_ranks(distribution.ranks.at_least, max_ranks, run.lease.check)
        team = Team(
            self._placement,
            Identity.new(run.id, run.lease.token),
            n_ranks,
            distribution.threads_per_rank,
            run.settings.rank_silence_seconds,
            run.lease.check,
        )
        with team:
            run.other_processors.update(member.processor for member in team.members)
            yield team

    def _train_with(self, team: Team) -> TrainedRanker:
        history = History(self._spec, self._state, validates=self._validates)
        self._sharing.distribute(team, partial(self._watch_over, team))
        self._sharing.start(team, self._state)
        self._run.reporter.phase("training", reset_count=True)
        leader = Leader(team, partial(self._watch_until_grown, team))
        while not history.is_complete and (answers := leader.grow(measures=history.is_measured_next)):
            report = history.add(means(self._spec, answers), slowest(answers))
            self._report_ranks(team)
            self._report(report, partial(self._snapshot, leader, history))
        if not history.is_complete and history.has_unmeasured_end:
            answers = leader.measure()
            report = history.measure_end(means(self._spec, answers), slowest(answers))
            self._watch.on_iteration(report, partial(self._snapshot, leader, history))
        return self._result(history, leader)

    def _report(self, report: IterationReport, snapshot: Callable[[], Checkpoint]) -> None:
        """Report an iteration, unless it was reported before a restart of the ranks."""
        if report.iteration <= self._reported_iteration:
            self._run.lease.check()
            return
        self._reported_iteration = report.iteration
        self._watch.on_iteration(report, snapshot)

    def _snapshot(self, leader: Leader, history: History) -> Checkpoint:
        self._state = Checkpoint.after(history, *leader.state())
        return self._state

    def _result(self, history: History, leader: Leader) -> TrainedRanker:
        kept_iterations, dataset = history.kept_iterations, self._dataset
        base_trees = self._state.base_trees if self._state else 0
        if history.reports:
            # The worker may stop after the ranks have ended.
            self._watch.set_final_checkpoint(self._snapshot(leader, history))
        self._run.reporter.phase("counting leaves")
        text = portable_text(leader.model_text(kept_iterations))
        # Before the boosters are freed.
        growth = growth_of(
            self._spec, text, kept_iterations, dataset.n_queries, leader, base_trees=base_trees
        )
        text = with_counts(text, leader.leaf_counts(text), first_tree=base_trees)
        return TrainedRanker(
            text, kept_iterations, dataset.feature_names, history.reports, growth, base_trees
        )

    def _watch_until_grown(self, team: Team) -> None:
        """Watch over the ranks, but ignore a stop of the worker until the tree is grown, for a checkpoint."""
        try:
            self._watch_over(team)
        except WorkerStopping:
            return

    def _watch_over(self, team: Team) -> None:
        """Report the state of the ranks, and check for interruptions and for the memory limit of ranks."""
        self._report_ranks(team)
        self._run.lease.check()
        limit = self._run.bounds.memory_bytes
        for member in team.members:
            used_bytes = member.condition.get("memory_bytes", 0)
            if limit is not None and used_bytes > limit:
                raise LimitReached(
                    "Memory limit",
                    f"Rank {member.rank} on {member.host} used {used_bytes / 2**20:,.0f} MiB; the limit of"
                    f" each rank is {limit / 2**20:,.0f} MiB.",
                )

    def _report_ranks(self, team: Team) -> None:
        """Add the state of the ranks to the progress of the job."""
        self._run.reporter.progress_details = {
            "ranks": [
                {
                    "rank": member.rank,
                    "host": member.host,
                    "queries": member.queries,
                    "documents": member.documents,
                    "stage": member.condition.get("stage", "starting"),
                    **{name: member.condition.get(name, 0) for name in _CONDITION_FIELDS},
                }
                for member in team.members
            ],
            "restarts": self._restarts,
        }
