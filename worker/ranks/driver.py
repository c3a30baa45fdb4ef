"""A training on several ranks, led by the job that owns its lease, its checkpoints and its decisions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import structlog

from core.data.categories import values_by_feature
from core.data.features import SelectedFeatures
from core.errors import InvalidInput, RanksLost
from core.metrics import parse_metric
from core.store import Store
from core.training import Checkpoint, IterationReport, TrainedRanker, TrainingSpec
from core.training.bin_edges import SampledRows, bin_edges, sampled_documents
from core.training.grower import lightgbm_parameters, portable_text
from core.training.growth import growth_of
from core.training.history import History
from core.training.leaf_counts import with_counts
from core.training.shards import shards
from core.training.shared_bins import edges_to_bytes
from core.types import Float64Array
from worker.job.datasets import NamedDataset
from worker.job.limits import LimitReached
from worker.job.progress import counting_percent
from worker.job.run import JobRun, Values, WorkerStopping
from worker.job.training_data import TrainingData
from worker.job.watch import TrainingWatch
from worker.ranks.arrays import packed, unpacked
from worker.ranks.identity import Identity
from worker.ranks.parts import Part, sample_within
from worker.ranks.placement import Placement
from worker.ranks.team import RankLost, Team

_MOST_LOSSES = 3  # one after the other, without a tree between them
_URL_SECONDS = 7 * 24 * 3600  # the longest that S3 signs for
_MEASURED = ("memory_bytes", "peak_memory_bytes", "sent_bytes", "waiting_share")
_MEMORY_SHARE = 0.85  # of a machine; the rest is for the system
_log = structlog.stdlib.get_logger(__name__)


@dataclass
class Plan:
    """What is to be trained, and how it is shared out.

    Attributes:
        spec: The training.
        spec_json: The same as the job stores it.
        data: The datasets, with the features of the training data.
        least_ranks: With fewer it does not begin.
        most_ranks: Never more.
        threads: Threads of a rank.
        silence_seconds: Silence after which a rank counts as lost.
    """

    spec: TrainingSpec
    spec_json: str
    data: TrainingData
    least_ranks: int
    most_ranks: int
    threads: int
    silence_seconds: float


class DistributedTraining:
    """Leads the ranks of one training; starts them anew from the last checkpoint when one is lost.

    Args:
        run: The job.
        plan: What to train.
        placement: Where ranks run.
        watch: Told of each iteration.
        start: Where the training goes on, None from its beginning.
    """

    def __init__(
        self,
        run: JobRun,
        plan: Plan,
        placement: Placement,
        watch: TrainingWatch,
        start: Checkpoint | None,
    ) -> None:
        self._run = run
        self._plan = plan
        self._placement = placement
        self._watch = watch
        self._state = start
        self._datasets = {"train": plan.data.training}
        if plan.data.validation is not None:
            self._datasets["validation"] = plan.data.validation
        self._edges: bytes | None = None
        self._restarts = 0
        self._told = start.iteration if start else 0

    def train(self) -> TrainedRanker:
        """Train, however many ranks are lost on the way.

        Raises:
            RanksLost: Ranks are lost again and again before another tree is grown.
            ClusterUnavailable: Not enough can be started.
            InvalidInput: The specification does not fit the data.
            LimitReached: A rank needs more memory than it may take.
        """
        losses, grown = 0, -1
        while True:
            try:
                with self._team() as team:
                    return self._trained(team)
            except RankLost as lost:
                losses = 1 if self._told > grown else losses + 1
                grown = self._told
                self._restarts += 1
                _log.warning("rank.lost", why=str(lost), restarts=self._restarts)
                if losses > _MOST_LOSSES:
                    raise RanksLost(f"{lost}; ranks were lost {losses} times without another tree") from lost

    @contextmanager
    def _team(self) -> Iterator[Team]:
        run, plan = self._run, self._plan
        self._selections()  # before any process is started for nothing
        run.phase("starting ranks")
        n_ranks = self._placement.room(plan.least_ranks, self._most_ranks(), run.check)
        identity = Identity.new(run.id, run.token)
        team = Team(self._placement, identity, n_ranks, plan.threads, plan.silence_seconds, run.check)
        with team:
            self._tell(team)
            yield team

    def _selections(self) -> dict[str, tuple[SelectedFeatures, str]]:
        return {name: _stored_selection(self._run.store, named) for name, named in self._datasets.items()}

    def _most_ranks(self) -> int:
        queries = min(named.dataset.n_queries for named in self._datasets.values())
        if queries < self._plan.least_ranks:
            raise InvalidInput.at(
                "/distribution/ranks/at_least",
                f"each of {self._plan.least_ranks} ranks needs a query of its own to learn from and to"
                f" validate on, and there are {queries}",
            )
        return min(self._plan.most_ranks, queries)

    def _trained(self, team: Team) -> TrainedRanker:
        spec = self._plan.spec
        state = self._state
        history = History(spec, state, validates="validation" in self._datasets)
        self._prepare(team)
        self._begin(team, state)
        self._run.phase("training", afresh=True)
        leader = _Leader(team, self._run)
        while not history.is_complete and (answers := leader.grow(measures=history.is_measured_next)):
            report = history.add(self._means(answers), _milliseconds(answers))
            self._tell(team)
            self._report(report, lambda: self._snapshot(team, history))
        return self._result(team, history, leader)

    def _prepare(self, team: Team) -> None:
        """Hand out the judgments, find the bins, and have all features read into them."""
        run, dataset = self._run, self._plan.data.training.dataset
        n_ranks = len(team.members)
        cuts = {
            name: shards(named.dataset.query_boundaries, n_ranks) for name, named in self._datasets.items()
        }
        selections = self._selections()
        common = {
            "do": "load",
            "spec": self._plan.spec_json,
            "feature_names": list(dataset.feature_names),
            "categories": values_by_feature(dataset.categories),
        }

        def parts(rank: int) -> Values:
            found = {}
            for name, named in self._datasets.items():
                queries = slice(*cuts[name][rank : rank + 2].tolist())
                found[name] = Part.of(named.dataset, *selections[name], queries).as_message()
            return found

        for member in team.members:
            first, last = cuts["train"][member.rank : member.rank + 2].tolist()
            member.queries = last - first
            member.documents = int(dataset.query_boundaries[last] - dataset.query_boundaries[first])
        run.phase("sharing out")
        needs = team.ask([{**common, "parts": parts(member.rank)} for member in team.members])
        self._check_memory(team, needs)
        boundaries = dataset.query_boundaries[cuts["train"]]
        edges = self._edges or self._found_edges(team, boundaries)
        self._edges = edges
        run.phase("binning")
        count = counting_percent(run, "binning")

        def on_wait() -> None:
            self._check_limits(team)
            conditions = [member.condition for member in team.members]
            total = sum(condition.get("total", 0) for condition in conditions)
            if total:
                count(sum(condition.get("done", 0) for condition in conditions), total)
            self._tell(team)
            run.check()

        team.ask({"do": "bins", "edges": edges}, on_wait=on_wait)

    def _found_edges(self, team: Team, boundaries: Any) -> bytes:
        """Find the bins from a sample of all documents, to which each rank gives its own."""
        run, spec, dataset = self._run, self._plan.spec, self._plan.data.training.dataset
        run.phase("sampling")
        binning = spec.hyperparameters.binning()
        sample = sampled_documents(dataset.n_documents, binning)
        asked = [
            {"do": "sample", "rows": packed(sample_within(sample, *boundaries[rank : rank + 2]))}
            for rank in range(len(team.members))
        ]
        found = [unpacked(answer["values"]) for answer in team.ask(asked)]
        features = SampledRows(dataset.n_documents, sample, np.concatenate(found))
        parameters = lightgbm_parameters(spec, dataset, self._plan.threads)
        return edges_to_bytes(bin_edges(features, binning, parameters, dataset.categorical_columns))

    def _begin(self, team: Team, state: Checkpoint | None) -> None:
        boundaries = {
            name: named.dataset.query_boundaries[shards(named.dataset.query_boundaries, len(team.members))]
            for name, named in self._datasets.items()
        }
        scores = state.scores if state is not None else {}
        common = {
            "do": "start",
            "addresses": {str(member.rank): member.address for member in team.members},
            "text": state.model_text if state is not None else "",
            "grown": state.iteration if state is not None else 0,
        }
        team.ask(
            [
                common
                | {
                    "scores": {
                        name: packed(scores[name][slice(*cuts[member.rank : member.rank + 2])])
                        for name, cuts in boundaries.items()
                        if name in scores
                    }
                }
                for member in team.members
            ]
        )

    def _check_memory(self, team: Team, needs: list[dict[str, Any]]) -> None:
        """Refuse a shard for which its machine or the job's limit has no room, before it is read."""
        limit = self._run.bounds.memory_bytes
        by_host: dict[str, int] = {}
        for member, need in zip(team.members, needs, strict=True):
            by_host[member.host] = by_host.get(member.host, 0) + need["needed_bytes"]
            room = limit if need["available_bytes"] is None else _MEMORY_SHARE * need["available_bytes"]
            least = min(bound for bound in (limit, room, np.inf) if bound is not None)
            if need["needed_bytes"] > least or by_host[member.host] > (room or np.inf):
                raise LimitReached(
                    "Memory limit",
                    f"The shard of rank {member.rank} on {member.host} takes about {need['need']}, and"
                    f" {least / 2**20:,.0f} MiB are left for it. Raise the job's limit, allow more ranks, or"
                    " train on fewer documents or features.",
                )

    def _check_limits(self, team: Team) -> None:
        limit = self._run.bounds.memory_bytes
        for member in team.members:
            taken = member.condition.get("memory_bytes", 0)
            if limit is not None and taken > limit:
                raise LimitReached(
                    "Memory limit",
                    f"Rank {member.rank} on {member.host} took {taken / 2**20:,.0f} MiB, the limit of each"
                    f" rank is {limit / 2**20:,.0f} MiB.",
                )

    def _means(self, answers: list[dict[str, Any]]) -> dict[str, Mapping[str, float | None]]:
        """Return the means of all queries, as one machine would find them."""
        spec = self._plan.spec
        values: dict[str, Mapping[str, float | None]] = {}
        for name, metrics in answers[0]["values"].items():
            found: dict[str, float | None] = {}
            for metric in metrics:
                each = np.concatenate([unpacked(answer["values"][name][metric]) for answer in answers])
                is_loss = metric == "loss"
                found[metric] = (
                    float(each.mean()) if is_loss else parse_metric(metric, spec.conventions).mean(each)
                )
            values[name] = found
        return values

    def _report(self, report: IterationReport, snapshot: Callable[[], Checkpoint]) -> None:
        """Report an iteration that has not been reported before ranks were lost."""
        if report.iteration <= self._told:
            self._run.check()
            return
        self._told = report.iteration
        self._watch.on_iteration(report, snapshot)

    def _snapshot(self, team: Team, history: History) -> Checkpoint:
        answers = team.ask({"do": "state"}, on_wait=lambda: None)
        scores: dict[str, Float64Array] = {
            name: np.concatenate([unpacked(answer["scores"][name]) for answer in answers])
            for name in self._datasets
        }
        self._state = history.checkpoint(answers[0]["text"], scores)
        return self._state

    def _result(self, team: Team, history: History, leader: "_Leader") -> TrainedRanker:
        plan, kept = self._plan, history.kept
        base_trees = self._state.base_trees if self._state else 0
        self._run.phase("counting leaves")
        text = portable_text(team.ask({"do": "model", "iterations": kept})[0]["text"])
        counts = sum(unpacked(answer["counts"]) for answer in team.ask({"do": "leaf_counts", "text": text}))
        text = with_counts(text, counts, first_tree=base_trees)
        dataset = plan.data.training.dataset
        return TrainedRanker(
            text,
            kept,
            dataset.feature_names,
            history.reports,
            growth_of(plan.spec, text, kept, dataset.n_queries, leader),
            base_trees,
        )

    def _tell(self, team: Team) -> None:
        """Show the ranks on the job's page."""
        self._run.progress_details = {
            "ranks": [
                {
                    "rank": member.rank,
                    "host": member.host,
                    "queries": member.queries,
                    "documents": member.documents,
                    "stage": member.condition.get("stage", "starting"),
                    **{name: member.condition.get(name, 0) for name in _MEASURED},
                }
                for member in team.members
            ],
            "restarts": self._restarts,
        }


@dataclass
class _Leader:
    """Grows trees with a team; see `core.training.growth.Ended`."""

    team: Team
    run: JobRun
    is_exhausted: bool = field(default=False)

    def grow(self, *, measures: bool) -> list[dict[str, Any]] | None:
        """Grow a tree; returns the ranks' answers, None where none was grown."""
        answers = self.team.ask({"do": "grow", "measures": measures}, on_wait=self._until_grown)
        self.is_exhausted = answers[0]["is_exhausted"]
        return answers if answers[0]["has_grown"] else None

    def first_hessian_sum(self) -> float:
        return float(sum(self._ask("first_hessian_sum")))

    def has_gradient(self) -> bool:
        return any(self._ask("has_gradient"))

    def decisive_bound(self) -> str | None:
        bound: str | None = self._ask("decisive_bound")[0]
        return bound

    def _ask(self, what: str) -> list[Any]:
        return [answer["value"] for answer in self.team.ask({"do": "ended", "what": what})]

    def _until_grown(self) -> None:
        """Let a worker that stops finish the tree, after which there is a checkpoint to keep."""
        try:
            self.run.check()
        except WorkerStopping:
            return


def _milliseconds(answers: list[dict[str, Any]]) -> dict[str, float]:
    """Return the times of the slowest rank, by part."""
    found: dict[str, float] = {}
    for answer in answers:
        for part, spent in answer["milliseconds"].items():
            found[part] = max(found.get(part, 0.0), spent)
    return found


def _stored_selection(store: Store, named: NamedDataset) -> tuple[SelectedFeatures, str]:
    """Return which rows and columns of a stored file are the features of a dataset, and the file's URL.

    Raises:
        InvalidInput: They are not those of the file, since the job has made others from them.
    """
    features = named.dataset.features
    if named.data_key is None or not isinstance(features, SelectedFeatures):
        raise InvalidInput.at(
            "/distribution",
            "ranks read features as they are stored, and this job gives categories other numbers; upload the"
            " data with the categories as texts, or train without distribution",
        )
    return features, store.artifacts.readable_url(named.data_key, _URL_SECONDS)
