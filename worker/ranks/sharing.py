"""Distribute a training to its ranks: their queries, their bins and their initial scores."""

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from core.data.categories import values_by_feature
from core.data.features import SelectedFeatures
from core.errors import InvalidInput
from core.store import Store
from core.training import Checkpoint, TrainingSpec
from core.training.bin_edges import SampledRows, bin_edges, edges_to_bytes, sampled_documents
from core.training.distribution import Distribution, shards
from core.training.grower import lightgbm_parameters
from core.types import Int64Array
from worker.job.datasets import KeyedDataset
from worker.job.limits import LimitReached
from worker.job.reporter import Values, counting_percent
from worker.job.run import JobRun
from worker.ranks.parts import Part, packed, sample_within, unpacked
from worker.ranks.team import Member, Team
from worker.settings import MEMORY_SHARE

_URL_SECONDS = 7 * 24 * 3600  # the longest validity that S3 allows for a signed URL
_SAMPLED_CELLS = 2**20  # limit per message of a rank: 4 MB of features


class Sharing:
    """Distribution of the data that ranks need before the first tree.

    Args:
        distribution: Requested bounds on the number of ranks.
        datasets: "train", and optionally "validation", with the features of the training data.
    """

    def __init__(
        self,
        run: JobRun,
        spec: TrainingSpec,
        distribution: Distribution,
        datasets: Mapping[str, KeyedDataset],
    ) -> None:
        self._run = run
        self._spec = spec
        self._distribution = distribution
        self._datasets = datasets
        self._edges: bytes | None = None

    def max_ranks(self) -> int:
        """Return the largest number of ranks for which each rank has queries.

        Raises:
            InvalidInput: There are too few queries, or ranks cannot read the features.
        """
        self._selections()  # raises before any process is started
        least = self._distribution.ranks.at_least
        queries = min(keyed.dataset.n_queries for keyed in self._datasets.values())
        if queries < least:
            raise InvalidInput.at(
                "/distribution/ranks/at_least",
                f"each of {least} ranks needs at least one training query and one validation query, but"
                f" there are only {queries}",
            )
        return min(self._distribution.ranks.at_most, queries)

    def distribute(self, team: Team, on_wait: Callable[[], None]) -> None:
        """Send the judgments, compute the bin edges, and let the ranks read and bin all features.

        Args:
            on_wait: Called while the ranks read; may raise to stop.

        Raises:
            LimitReached: A shard needs more memory than its machine or the job's limit allows.
            RankLost: A rank is lost.
        """
        self._run.reporter.phase("distributing data")
        selections, cuts = self._selections(), self._cuts(team)
        boundaries = self._datasets["train"].dataset.query_boundaries[cuts["train"]]
        for member in team.members:
            first, last = cuts["train"][member.rank : member.rank + 2].tolist()
            member.queries, member.documents = last - first, int(np.diff(boundaries)[member.rank])
        needs = team.ask([self._load(member.rank, cuts, selections) for member in team.members])
        check_memory(team.members, needs, self._run.bounds.memory_bytes)
        self._edges = self._edges or self._compute_edges(team, boundaries)
        self._run.reporter.phase("binning")
        count = counting_percent(self._run.reporter, "binning")

        def counting() -> None:
            on_wait()
            conditions = [member.condition for member in team.members]
            if total := sum(condition.get("total", 0) for condition in conditions):
                count(sum(condition.get("done", 0) for condition in conditions), total)

        team.ask({"do": "bins", "edges": self._edges}, on_wait=counting)

    def start(self, team: Team, state: Checkpoint | None) -> None:
        """Connect the ranks with each other, and start or resume the training."""
        document_cuts = {
            name: self._datasets[name].dataset.query_boundaries[queries]
            for name, queries in self._cuts(team).items()
        }
        scores = state.scores if state is not None else {}
        common = {
            "do": "start",
            "addresses": {str(member.rank): member.address for member in team.members},
            "text": state.model_text if state is not None else "",
            "iterations_done": state.iteration if state is not None else 0,
        }

        def scores_of_rank(rank: int) -> Values:
            return {
                name: packed(values[slice(*document_cuts[name][rank : rank + 2].tolist())])
                for name, values in scores.items()
            }

        team.ask([{**common, "scores": scores_of_rank(member.rank)} for member in team.members])

    def _cuts(self, team: Team) -> dict[str, Int64Array]:
        """Return the cuts between the shards by dataset: (n_ranks + 1,) positions of queries."""
        n_ranks = len(team.members)
        return {
            name: shards(keyed.dataset.query_boundaries, n_ranks) for name, keyed in self._datasets.items()
        }

    def _selections(self) -> dict[str, tuple[SelectedFeatures, str]]:
        return {name: _stored_selection(self._run.store, keyed) for name, keyed in self._datasets.items()}

    def _load(
        self,
        rank: int,
        cuts: Mapping[str, Int64Array],
        selections: Mapping[str, tuple[SelectedFeatures, str]],
    ) -> Values:
        """Return the request that sends a rank its judgments."""
        training = self._datasets["train"].dataset
        parts = {}
        for name, keyed in self._datasets.items():
            queries = slice(*cuts[name][rank : rank + 2].tolist())
            parts[name] = Part.of(keyed.dataset, *selections[name], queries).as_message()
        return {
            "do": "load",
            "spec": json.dumps(self._run.spec),
            "feature_names": list(training.feature_names),
            "categories": values_by_feature(training.categories),
            "parts": parts,
        }

    def _compute_edges(self, team: Team, boundaries: Int64Array) -> bytes:
        """Compute the bin edges from a sample of the documents of all ranks."""
        dataset = self._datasets["train"].dataset
        self._run.reporter.phase("sampling")
        binning = self._spec.hyperparameters.binning()
        sample = sampled_documents(dataset.n_documents, binning)
        n_rows = max(1, _SAMPLED_CELLS // max(dataset.n_features, 1))
        rows_by_rank = [
            sample_within(sample, *boundaries[rank : rank + 2].tolist()) for rank in range(len(team.members))
        ]
        values = np.empty((len(sample), dataset.n_features), np.float32)
        ends = np.cumsum([0, *map(len, rows_by_rank)])
        for first in range(0, max(map(len, rows_by_rank)), n_rows):
            blocks = [rows[first : first + n_rows] for rows in rows_by_rank]
            answers = team.ask([{"do": "sample", "rows": packed(rows)} for rows in blocks])
            for begin, rows, answer in zip(ends[:-1] + first, blocks, answers, strict=True):
                values[begin : begin + len(rows)] = unpacked(answer["values"])
        features = SampledRows(dataset.n_documents, sample, values)
        parameters = lightgbm_parameters(self._spec, dataset, self._run.threads)
        return edges_to_bytes(bin_edges(features, binning, parameters, dataset.categorical_columns))


def check_memory(members: Sequence[Member], needs: Sequence[Values], limit_bytes: float | None) -> None:
    """Raise if a shard needs more than its machine or the job's limit allows.

    Also raise if the shards on one machine together need more memory than the machine has.

    Args:
        needs: `{"needed_bytes", "need", "available_bytes"}` of each rank.
        limit_bytes: The job's limit for each rank, or None.

    Raises:
        LimitReached: The memory does not suffice.
    """
    by_host: dict[str, int] = {}
    for member, need in zip(members, needs, strict=True):
        available = need["available_bytes"]
        usable = limit_bytes if available is None else MEMORY_SHARE * available
        least = min(bound for bound in (limit_bytes, usable, np.inf) if bound is not None)
        if need["needed_bytes"] > least:
            shards = f"The shard of rank {member.rank} on {member.host} takes about {need['need']}"
            raise _too_little_memory(shards, least)
        by_host[member.host] = by_host.get(member.host, 0) + need["needed_bytes"]
        if usable is not None and by_host[member.host] > usable:
            together = f"{by_host[member.host] / 2**20:,.0f} MiB together"
            raise _too_little_memory(f"The shards of ranks on {member.host} take {together}", usable)


def _too_little_memory(shards: str, available_bytes: float) -> LimitReached:
    return LimitReached(
        "Memory limit",
        f"{shards}, but only {available_bytes / 2**20:,.0f} MiB are available. Raise the job's limit, allow"
        " more ranks, or train on fewer documents or features.",
    )


def _stored_selection(store: Store, dataset: KeyedDataset) -> tuple[SelectedFeatures, str]:
    """Return the features of a dataset as rows and columns of a stored file, and the file's URL."""
    features = dataset.dataset.features
    if dataset.data_key is None or not isinstance(features, SelectedFeatures):
        raise InvalidInput.at(
            "/distribution",
            "ranks read features as they are stored, but this job changes the codes of categories; upload"
            " the data with categories as strings, or train without distribution",
        )
    return features, store.artifacts.readable_url(dataset.data_key, _URL_SECONDS)
