"""Calls about jobs."""

import asyncio
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Literal

from rankery.client.arguments import (
    spelled_distribution,
    spelled_early_stopping,
    spelled_loss,
    spelled_scorer,
    spelled_test,
    spelled_validation,
)
from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.display.progress import followed
from rankery.client.listing import Listing
from rankery.client.reading import given
from rankery.client.references import HasId, id_of, system_of
from rankery.client.schemas.requests import (
    Contract,
    DiagnosticsRequest,
    DistributionRequest,
    EarlyStoppingRequest,
    FeatureChoiceRequest,
    HoldOut,
    Hyperparameters,
    LimitsRequest,
    Loss,
    LossDiagnosticsRequest,
    LossName,
    ModelSystem,
    PartialDependenceRequest,
    RankingSystem,
    RepeatsRequest,
    Scorer,
    ScorerKind,
    Validation,
)

_INTERVAL_SECONDS = 0.5


class AsyncJobCalls(AsyncCalls):
    """Calls about jobs."""

    async def train(
        self,
        model_name: str,
        dataset: str | HasId,
        loss: LossName | Loss = "ndcg-loss2++",
        *,
        validation: str | HasId | float | Validation | None = None,
        folds: int | str | None = None,
        test: str | HasId | float | HoldOut | None = None,
        scorer: ScorerKind | Scorer | None = None,
        hyperparameters: Hyperparameters | Literal["auto"] | None = None,
        metrics: Sequence[str] | None = None,
        early_stopping: int | EarlyStoppingRequest | None = None,
        contract: Contract | None = None,
        label_map: Mapping[str, float] | None = None,
        features: FeatureChoiceRequest | None = None,
        init_model: str | HasId | None = None,
        tags: Mapping[str, str] | None = None,
        diagnostics: DiagnosticsRequest | None = None,
        metric_interval: int | None = None,
        seed: int | None = None,
        bootstrap: bool | None = None,
        distribution: int | DistributionRequest | None = None,
        allow_absent_features: bool | None = None,
        priority: str | None = None,
        limits: LimitsRequest | None = None,
    ) -> AsyncJob:
        """Train a new version of a model.

        Args:
            model_name: The model that it becomes a version of; lower case letters, digits, `.`, `_`, `-`.
            dataset: What to learn from.
            loss: A loss by its name, or with its hyperparameters: `{"name": "ndcg-loss2++", "mu": 10.0}`;
                None for a sum of models, which has none.
            validation: What picks the best iteration: a dataset, a share of the queries such as 0.2, or
                folds or a column of the training data as a dictionary.
            folds: Instead, cross-validate by so many folds, or by those that a column of the queries names;
                the model is then trained on all of them.
            test: What the model is measured on at the end, in the same ways.
            scorer: What is trained, by its kind or with its hyperparameters: "linear", or
                `{"kind": "mlp", "hidden": [128, 64], "epochs": 50}`, or the sum of models by
                `{"kind": "sum", "models": ["web:3", "net:1"]}`; trees when left out.
            hyperparameters: How trees are grown, under LightGBM's names: `{"num_leaves": 64}`; "auto" chooses
                them by the size of the dataset, and so does `{"auto": True}` what is not given beside it.
            metrics: Spellings such as `ndcg@10`; `ndcg@5` and `ndcg@10` when left out.
            early_stopping: Stop after so many iterations in which validation's first metric got no better;
                or `{"metric", "rounds"}`.
            contract: Conventions of the metrics: a preset such as `trec_eval`, or a dictionary.
            label_map: Labels to replace, as text, and what by.
            features: Those that the model has: `{"use": ["bm25"]}` or `{"leave_out": ["clicks"]}`.
            init_model: A model whose trees come first, by its reference; training goes on from its scores.
            tags: Tags of the model; those of a grid name what varies.
            diagnostics: Follow what the papers say of the loss: `{"interval": 10}`.
            metric_interval: Iterations from one measurement to the next.
            seed: Decides every random choice.
            bootstrap: Learn from as many training queries drawn with replacement by the seed.
            distribution: Grow the trees on several ranks together, at most so many; or
                `{"ranks": {"at_least": 2, "at_most": 8}, "threads_per_rank": 4}`.
            allow_absent_features: Go on where a dataset lacks more than half of the features in use.
            priority: `low`, `normal` or `high`.
            limits: `{"seconds", "memory_bytes"}` after which it fails.

        Raises:
            RankeryApiError: The service refused it; the sentence names each place.

        Example:
            ```python
            job = await client.train(
                "web", dataset, {"name": "lambdarank", "truncation_level": 10},
                validation=0.2, hyperparameters={"num_leaves": 64}, early_stopping=30,
            )
            ```
        """
        spec = {
            "kind": "train",
            "model_name": model_name,
            "dataset_id": id_of(dataset),
            "loss": spelled_loss(loss),
            "validation": spelled_validation(validation, folds),
            **spelled_test(test),
            "scorer": spelled_scorer(scorer),
            "hyperparameters": hyperparameters,
            "metrics": metrics,
            "early_stopping": spelled_early_stopping(early_stopping, metrics),
            "contract": contract,
            "label_map": label_map,
            "features": features,
            "init_model": None if init_model is None else id_of(init_model),
            "tags": tags,
            "diagnostics": diagnostics,
            "metric_interval": metric_interval,
            "seed": seed,
            "bootstrap": bootstrap,
            "distribution": spelled_distribution(distribution),
            "allow_absent_features": allow_absent_features,
            "priority": priority,
            "limits": limits,
        }
        return await self.submit(given(spec))

    async def evaluate(
        self,
        system: str | HasId | ModelSystem | RankingSystem,
        dataset: str | HasId,
        *,
        metrics: Sequence[str] | None = None,
        contract: Contract | None = None,
        diagnostics: LossDiagnosticsRequest | None = None,
        label_map: Mapping[str, float] | None = None,
        seed: int | None = None,
        allow_absent_features: bool | None = None,
        priority: str | None = None,
    ) -> AsyncJob:
        """Evaluate a model or an uploaded ranking on a dataset.

        Args:
            system: A model (id, name, `name:version` or `name@alias`), or a ranking by its id, `rnk_…`.
            dataset: What to measure on.
            metrics: Spellings such as `ndcg@10`; `ndcg@5` and `ndcg@10` when left out.
            contract: Conventions of the metrics: a preset such as `trec_eval`, or a dictionary.
            diagnostics: See what the papers say of a loss at the model's scores: `{"loss", "cutoff"}`.
            label_map: Labels to replace, as text, and what by.
            seed: Of the bootstrap intervals.
            allow_absent_features: Go on where a dataset lacks more than half of the features in use.
            priority: `low`, `normal` or `high`.

        Raises:
            RankeryApiError: The service refused it.
        """
        spec = {
            "kind": "evaluate",
            **system_of(system),
            "dataset_id": id_of(dataset),
            "metrics": metrics,
            "contract": contract,
            "diagnostics": diagnostics,
            "label_map": label_map,
            "seed": seed,
            "allow_absent_features": allow_absent_features,
            "priority": priority,
        }
        return await self.submit(given(spec))

    async def compare(
        self,
        dataset: str | HasId,
        systems: "Sequence[str | HasId | ModelSystem | RankingSystem]",
        *,
        reference: int | None = None,
        correction: Literal["holm", "none"] | None = None,
        pool_folds: bool | None = None,
        metrics: Sequence[str] | None = None,
        contract: Contract | None = None,
        permutations: int | None = None,
        label_map: Mapping[str, float] | None = None,
        seed: int | None = None,
        allow_absent_features: bool | None = None,
        priority: str | None = None,
    ) -> AsyncJob:
        """Compare models and rankings, query by query, on one dataset.

        Args:
            dataset: What to compare them on.
            systems: Two or more models or rankings; each later one is held against each earlier one.
            reference: Place of the system, from 0, that all others are held against instead.
            correction: Of the p-values for their number: `holm`, or `none` for one test planned before.
            pool_folds: Rank each query by the model of a cross-validation that has not seen it.
            metrics: Spellings; the first one decides.
            contract: Conventions of the metrics: a preset such as `trec_eval`, or a dictionary.
            permutations: Random assignments of Fisher's randomisation test.
            label_map: Labels to replace, as text, and what by.
            seed: Of the resampling.
            allow_absent_features: Go on where a dataset lacks more than half of the features in use.
            priority: `low`, `normal` or `high`.

        Raises:
            RankeryApiError: The service refused it.
        """
        spec = {
            "kind": "compare",
            "dataset_id": id_of(dataset),
            "systems": [system_of(system) for system in systems],
            "reference": reference,
            "correction": correction,
            "pool_folds": pool_folds,
            "metrics": metrics,
            "contract": contract,
            "permutations": permutations,
            "label_map": label_map,
            "seed": seed,
            "allow_absent_features": allow_absent_features,
            "priority": priority,
        }
        return await self.submit(given(spec))

    async def rank_dataset(
        self,
        model: str | HasId,
        dataset: str | HasId,
        *,
        allow_absent_features: bool | None = None,
        priority: str | None = None,
    ) -> AsyncJob:
        """Rank the documents of a dataset by a model; the job stores a ranking.

        Args:
            model: Id, name, `name:version` or `name@alias`.
            dataset: What to rank.
            allow_absent_features: Go on where the dataset lacks more than half of the features in use.
            priority: `low`, `normal` or `high`.

        Raises:
            RankeryApiError: The service refused it.
        """
        spec = {
            "kind": "rank",
            "model": id_of(model),
            "dataset_id": id_of(dataset),
            "allow_absent_features": allow_absent_features,
            "priority": priority,
        }
        return await self.submit(given(spec))

    async def inspect(
        self,
        model: str | HasId,
        dataset: str | HasId,
        *,
        metric: str | None = None,
        repeats: int | None = None,
        within: str | None = None,
        partial_dependence: PartialDependenceRequest | None = None,
        contract: Contract | None = None,
        label_map: Mapping[str, float] | None = None,
        seed: int | None = None,
        allow_absent_features: bool | None = None,
        priority: str | None = None,
    ) -> AsyncJob:
        """Measure permutation importance and partial dependence of a model.

        Args:
            model: Id, name, `name:version` or `name@alias`.
            dataset: Where to look.
            metric: What is lost when a feature is shuffled; `ndcg@10` when left out.
            repeats: How often each feature is shuffled.
            within: Shuffle over the `dataset`, or within the `query`.
            partial_dependence: `{"features", "grid", "sample"}`.
            contract: Conventions of the metric: a preset such as `trec_eval`, or a dictionary.
            label_map: Labels to replace, as text, and what by.
            seed: Of the shuffling.
            allow_absent_features: Go on where a dataset lacks more than half of the features in use.
            priority: `low`, `normal` or `high`.

        Raises:
            RankeryApiError: The service refused it.
        """
        spec = {
            "kind": "inspect",
            "model": id_of(model),
            "dataset_id": id_of(dataset),
            "metric": metric,
            "repeats": repeats,
            "within": within,
            "partial_dependence": partial_dependence,
            "contract": contract,
            "label_map": label_map,
            "seed": seed,
            "allow_absent_features": allow_absent_features,
            "priority": priority,
        }
        return await self.submit(given(spec))

    async def submit(self, job: Mapping[str, Any]) -> AsyncJob:
        """Submit a job with the fields of the HTTP API.

        Args:
            job: `{"kind": "train" | "evaluate" | "rank" | "compare" | "inspect", …}`.

        Raises:
            RankeryApiError: The service refused it.
        """
        return self._bound(AsyncJob, await self.transport.create("/v1/jobs", dict(job)))

    async def submit_all(
        self, jobs: Sequence[Mapping[str, Any]], *, repeats: int | RepeatsRequest | None = None
    ) -> Listing[AsyncJob]:
        """Submit several jobs, such as the trainings of a grid: all of them, or none where one is refused.

        Args:
            jobs: Each as `submit` takes it.
            repeats: Submit each training so many times, on bootstrap samples of its queries by one seed after
                the other; or `{"count", "by"}`.

        Raises:
            RankeryApiError: The service refused one; the sentence names it by its place, `/jobs/0`.
        """
        asked = {"count": repeats} if isinstance(repeats, int) else repeats
        batch = given({"jobs": [dict(job) for job in jobs], "repeats": asked})
        answer = await self.transport.create("/v1/jobs/batch", batch)
        return Listing(self._bound(AsyncJob, job) for job in answer["jobs"])

    def jobs(self, *, kind: str | None = None, status: str | None = None) -> AsyncPages[AsyncJob]:
        """List jobs, newest first.

        Args:
            kind: Only those of this kind, such as `train`.
            status: Only those `queued`, `running`, `succeeded`, `failed` or `cancelled`.
        """
        return self._pages(AsyncJob, "/v1/jobs", kind=kind, status=status)

    async def job(self, job_id: str) -> AsyncJob:
        """Return a job with its status, progress, metrics, result and problem.

        Raises:
            RankeryApiError: There is none of this id.
        """
        return self._bound(AsyncJob, await self.transport.get(f"/v1/jobs/{job_id}"))

    async def wait_all(
        self,
        jobs: Sequence[AsyncJob],
        *,
        timeout_seconds: float | None = None,
        progress: bool | None = None,
    ) -> Listing[AsyncJob]:
        """Wait until all jobs have ended, well or not, with a bar for each.

        Args:
            jobs: The jobs.
            timeout_seconds: Give up after so long; None waits for ever.
            progress: Whether to draw the bars; where standard error is a terminal or a notebook if None.

        Returns:
            The same jobs; what failed has a `problem`.

        Raises:
            TimeoutError: They have not all ended in time.
        """
        deadline = None if timeout_seconds is None else monotonic() + timeout_seconds
        left = list(jobs)
        with followed(jobs, progress) as show:
            while left:
                for job in left:
                    show(await job.refresh())
                left = [job for job in left if not job.has_ended]
                if left and deadline is not None and monotonic() > deadline:
                    raise TimeoutError(f"{len(left)} of {len(jobs)} jobs go on after {timeout_seconds:g} s")
                if left:
                    await asyncio.sleep(_INTERVAL_SECONDS)
        return Listing(jobs)
