"""Calls about studies, and the study resource."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from rankery.client import arguments
from rankery.client.asynchronous.dataset_calls import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.resource import AsyncPages, AsyncWork
from rankery.client.display.progress import continuing, steps_progress
from rankery.client.reading import read, without_none
from rankery.client.schemas import requests
from rankery.client.schemas.answers import StudyImportance, Trial
from rankery.client.views.study import StudyView
from rankery.errors import StudyFailed
from rankery.grids import TREES


class AsyncStudy(StudyView, AsyncWork):
    """A study, as last fetched from the service.

    Example:
        ```python
        study = await client.tune("web", dataset, {"/hyperparameters/num_leaves": (4, 64, "log")}, trials=30)
        print((await study.wait()).sentence)
        ```
    """

    _noun = "study"
    _interval_seconds = 1.0

    @contextmanager
    def _progress(self, progress: bool | None) -> Iterator[Callable[[], None]]:
        with continuing("study", [self.id]), steps_progress(self.name, progress) as show:
            yield lambda: show(self.ended_trials, self.budget.trials, self.news())

    def _failure(self) -> Exception:
        return StudyFailed(self)

    def trials(self) -> AsyncPages[Trial]:
        """List the trials by number."""
        return AsyncPages(self._transport, f"{self._path}/trials", lambda one: read(Trial, one))

    async def add_trial(self, parameters: Mapping[str, Any]) -> Trial:
        """Queue a trial with given parameters, beyond the budget.

        Args:
            parameters: Values of the active parameters, by the names or pointers of `tune`.

        Raises:
            RankeryApiError: The parameters are not in the search space, or the study has ended.
        """
        is_network = (self.base.get("scorer") or {}).get("kind", TREES) != TREES
        body = {"parameters": arguments.trial_parameters(parameters, is_network=is_network)}
        return read(Trial, await self._transport.create(f"{self._path}/trials", body))

    async def pause(self) -> Self:
        """Pause the study: queue no further trials; queued and running trials still finish."""
        return await self._post("pause")

    async def resume(self) -> Self:
        """Resume a paused study."""
        return await self._post("resume")

    async def cancel(self) -> Self:
        """Cancel the study, without a conclusion."""
        return await self._post("cancel")

    async def extend(self, trials: int | None = None, *, parallel_trials: int | None = None) -> Self:
        """Change the budget while the study runs or is paused.

        Args:
            trials: Largest number of trials, including those so far.
            parallel_trials: Trials that are queued or run at the same time.
        """
        return await self._change(without_none({"trials": trials, "parallel_trials": parallel_trials}))

    async def clone(self, **changes: Any) -> "AsyncStudy":
        """Submit a new study like this one.

        Args:
            **changes: `name`, `sampler`, `pruner`, `budget`, `parallel_trials`, `seed` and `test`.
        """
        return AsyncStudy.of(
            await self._transport.create(f"{self._path}/clone", dict(changes)), self._transport
        )

    async def delete(self, *, permanently: bool = False) -> None:
        """Move the study and its trials to the trash; `client.restore` restores them. Its jobs stay.

        Args:
            permanently: Delete permanently instead of moving to the trash.

        Raises:
            RankeryApiError: The study has not ended.
        """
        await self._delete(permanently=permanently)

    async def importance(self) -> StudyImportance:
        """Return the importance of each parameter for the value of a trial."""
        return read(StudyImportance, await self._transport.get(f"{self._path}/importance"))

    @property
    def _path(self) -> str:
        return f"/v1/studies/{self.id}"


class AsyncStudyCalls(AsyncDatasetReferences):
    """Calls about studies."""

    async def tune(
        self,
        model_name: str,
        dataset: DatasetSource,
        search_space: Mapping[str, Any],
        loss: requests.LossName | requests.Loss = "lambdarank",
        *,
        test: DatasetSource | float | requests.HoldOut = 0.2,
        scorer: requests.ScorerKind | requests.Scorer | None = None,
        hyperparameters: requests.Hyperparameters | None = None,
        metric: str | None = None,
        folds: int | str | None = None,
        validation: DatasetSource | float | requests.Validation | None = None,
        early_stopping: int | None = None,
        trials: int | None = None,
        seconds: float | None = None,
        patience: int | None = None,
        parallel_trials: int | None = None,
        sampler: str | None = None,
        pruner: str | None = None,
        label_map: Mapping[str, float] | None = None,
        seed: int | None = None,
        alias: str | None = None,
        priority: str | None = None,
        name: str | None = None,
        project: str | None = None,
        columns: arguments.Columns | None = None,
    ) -> AsyncStudy:
        """Tune hyperparameters by many trials, with one final comparison on held-out queries.

        Args:
            model_name: Model name of which the winner and the default become versions.
            dataset: Training data, in any form that `train` takes.
            search_space: By name as in `grid` (`num_leaves`, `loss`, `loss.sigma`) or by pointer
                (`/hyperparameters/num_leaves`): `(4, 64)`, `(0.01, 0.3, "log")`, a list of choices, or a
                parameter in the API's form.
            loss: Loss of the default trial, and of the others unless the search space varies it.
            test: Held-out queries that no trial sees: a share of them, a dataset, or a dictionary.
            scorer: Scorer to train, as in `train`; names of the search space are then its hyperparameters.
            hyperparameters: Hyperparameters of the default trial.
            metric: The objective; `ndcg@10` when left out.
            folds: Number of cross-validation folds, or the query column with the folds; 5 by default.
            validation: A single hold-out instead of folds.
            early_stopping: Stop a fold after this number of iterations without a better objective.
            trials: Largest number of trials, including the default; 50 when left out.
            seconds: Time after which no further trial is started.
            patience: Stop the study after this number of trials without a new best trial.
            parallel_trials: Trials that are queued or run at the same time.
            sampler: `tpe`, `random`, `grid` or `qmc`.
            pruner: `wilcoxon`, `median` or `none`.
            label_map: Replacement of labels, `{"label": value}` with labels as text.
            seed: Seed of every random choice.
            alias: Alias to point at the winner if it is significantly better.
            priority: `low`, `normal` or `high`.
            name: Name of the study; that of the model when left out.
            project: Project label.
            columns: Column roles of files and frames, as in `upload_dataset`.

        Example:
            ```python
            space = {"num_leaves": (4, 64, "log"), "learning_rate": (0.02, 0.3, "log")}
            study = await client.tune("web", dataset, space, trials=30, folds=5)
            print((await study.wait()).sentence)
            ```
        """
        held_validation = await self._held_out(validation, columns, f"{model_name} validation")
        held_test = await self._held_out(test, columns, f"{model_name} test")
        held_out = None
        if validation is not None or folds is not None:
            held_out = arguments.validation_field(held_validation, folds)
        requested_scorer = arguments.scorer_field(scorer)
        is_network = requested_scorer is not None and requested_scorer["kind"] != "trees"
        base = {
            "loss": arguments.loss_field(loss),
            "scorer": requested_scorer,
            "hyperparameters": hyperparameters,
            "early_stopping_rounds": early_stopping,
            "label_map": label_map,
        }
        spec = {
            "name": name or model_name,
            "model_name": model_name,
            "dataset_id": await self._dataset_id(dataset, columns, f"{model_name} train"),
            **arguments.test_fields(held_test),
            "base": without_none(base),
            "search_space": arguments.search_space_field(search_space, is_network=is_network),
            "objective": without_none({"metric": metric, "validation": held_out}),
            "sampler": sampler,
            "pruner": pruner,
            "budget": without_none({"trials": trials, "seconds": seconds, "patience": patience}),
            "parallel_trials": parallel_trials,
            "seed": seed,
            "alias": alias,
            "priority": priority,
            "project": project,
        }
        return await self.submit_study(without_none(spec))

    async def submit_study(self, study: Mapping[str, Any]) -> AsyncStudy:
        """Submit a study with the fields of the HTTP API."""
        return self._bound(AsyncStudy, await self.transport.create("/v1/studies", dict(study)))

    def studies(self, *, status: str | None = None) -> AsyncPages[AsyncStudy]:
        """List studies, newest first.

        Args:
            status: Only studies that are `running`, `paused`, `concluding`, `succeeded`, `failed` or
                `cancelled`.
        """
        return self._pages(AsyncStudy, "/v1/studies", status=status)

    async def study(self, study_id: str) -> AsyncStudy:
        """Return a study with its counts, best trial and conclusion."""
        return self._bound(AsyncStudy, await self.transport.get(f"/v1/studies/{study_id}"))
