"""Calls that train models."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from rankery.client import arguments
from rankery.client.asynchronous.dataset_calls import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncGrid, AsyncJobCalls
from rankery.client.reading import without_none
from rankery.client.references import HasId, id_of, mapping_of
from rankery.client.schemas import requests
from rankery.errors import InvalidArgument
from rankery.grids import points
from rankery.json_text import plain_value


class AsyncTrainingCalls(AsyncJobCalls, AsyncDatasetReferences):
    """Calls that train models."""

    async def train(
        self,
        model_name: str,
        dataset: DatasetSource,
        loss: requests.LossName | requests.Loss = "ndcg-loss2++",
        *,
        validation: DatasetSource | float | requests.Validation | None = None,
        folds: int | str | None = None,
        test: DatasetSource | float | requests.HoldOut | None = None,
        scorer: requests.ScorerKind | requests.Scorer | None = None,
        hyperparameters: requests.Hyperparameters | Literal["auto"] | None = None,
        metrics: Sequence[str] | None = None,
        early_stopping: int | requests.EarlyStoppingRequest | None = None,
        contract: requests.Contract | None = None,
        features: requests.FeatureChoiceRequest | None = None,
        init_model: str | HasId | None = None,
        tags: Mapping[str, str] | None = None,
        diagnostics: requests.DiagnosticsRequest | None = None,
        seed: int | None = None,
        distribution: int | requests.DistributionRequest | None = None,
        columns: arguments.Columns | None = None,
        **fields: Unpack[arguments.TrainingFields],
    ) -> AsyncJob:
        """Train a new version of a model.

        Args:
            model_name: Name of the model; lower case letters, digits, `.`, `_`, `-`.
            dataset: Training data: a dataset, its id or name (the newest ready one), a file, a data frame,
                `(X, y, group)` or a URL. Data are uploaded and read first; a file or a data frame of the
                same bytes is not uploaded again.
            loss: A loss by its name, or with its hyperparameters: `{"name": "ndcg-loss2++", "mu": 10.0}`;
                None for a sum of models.
            validation: Data that select the best iteration: a dataset in any of these forms, a share of the
                queries such as 0.2, or a dictionary such as `{"folds": 5}` or `{"fold_column": "fold"}`.
            folds: Number of cross-validation folds, or a query column with the folds, instead of
                `validation`; the final model is trained on all queries.
            test: Data to evaluate the final model on, in the same forms.
            scorer: Scorer to train, by its kind or with its hyperparameters: "linear", or
                `{"kind": "mlp", "hidden": [128, 64], "epochs": 50}`, or the sum of models by
                `{"kind": "sum", "models": ["web:3", "net:1"]}`; trees when left out.
            hyperparameters: Hyperparameters of trees, as in LightGBM: `{"num_leaves": 64}`; "auto" chooses
                them by the size of the dataset; `{"auto": True}` chooses those that are not given.
            metrics: Spellings such as `ndcg@10`; `ndcg@5` and `ndcg@10` when left out.
            early_stopping: Stop the training after this number of iterations without a better first metric
                on validation data; or `{"metric", "rounds"}`.
            contract: Conventions of the metrics: a preset such as `trec_eval`, or a dictionary.
            features: Features of the model: `{"use": ["bm25"]}` or `{"leave_out": ["clicks"]}`.
            init_model: A model whose trees come first, by its reference; training continues from its scores.
            tags: Tags of the model.
            diagnostics: Compute diagnostics of the loss: `{"interval": 10}`.
            seed: Seed of every random choice.
            distribution: Largest number of ranks of a distributed training; or `{"ranks": {"at_least": 2,
                "at_most": 8}, "threads_per_rank": 4}`.
            columns: Column roles of files and frames, as in `upload_dataset`.
            **fields: `label_map` (`{"2": 1.0}` replaces label 2 by 1), `allow_absent_features` (continue if a
                dataset lacks more than half of the features in use), `priority` (`low`, `normal` or `high`),
                `limits` (`{"seconds": 600, "memory_bytes": 10**9}`, above which the job fails), `name`,
                `notes` and `project` of the job, `bootstrap` (train on queries drawn with replacement),
                `metric_interval` (iterations between two measurements) and `clicks` (`{"log": log,
                "correction": "ips", "propensity_job": job}`).

        Example:
            ```python
            job = await client.train(
                "web", dataset, {"name": "lambdarank", "truncation_level": 10},
                validation=0.2, hyperparameters={"num_leaves": 64}, early_stopping=30,
            )
            ```
        """
        spec = await self._training(
            model_name,
            dataset,
            loss,
            validation=validation,
            folds=folds,
            test=test,
            scorer=scorer,
            hyperparameters=hyperparameters,
            metrics=metrics,
            early_stopping=early_stopping,
            contract=contract,
            features=features,
            init_model=init_model,
            tags=tags,
            diagnostics=diagnostics,
            seed=seed,
            distribution=distribution,
            columns=columns,
            **fields,
        )
        return await self.submit(spec)

    async def train_best(
        self,
        model_name: str,
        dataset: DatasetSource,
        *,
        budget_seconds: float | None = None,
        metric: str | None = None,
        test: DatasetSource | None = None,
        prefer: Literal["best", "simple"] | None = None,
        candidates: Sequence[str] | None = None,
        contract: requests.Contract | None = None,
        tags: Mapping[str, str] | None = None,
        seed: int | None = None,
        columns: arguments.Columns | None = None,
        **fields: Unpack[arguments.TrainingJobFields],
    ) -> AsyncJob:
        """Select the best model by automatic training, and train it as a new version.

        A portfolio of trees, linear scorers and networks is cross-validated. The best candidate or a weighted
        sum of candidates is trained on all queries.

        Args:
            model_name: Name of the model; lower case letters, digits, `.`, `_`, `-`.
            dataset: Training data, as in `train`.
            budget_seconds: Running time to plan for, from 10 seconds to a day; 300 when left out.
            metric: Metric that selects candidates; `ndcg@10` when left out.
            test: Other data to evaluate the final model on once, in the same forms.
            prefer: `best`: the weighted sum of candidates, unless one candidate is clearly better;
                `simple`: one candidate, unless the sum is.
            candidates: Names of the candidates to try, as in a leaderboard; all when left out.
            contract: Conventions of the metric: a preset such as `trec_eval`, or a dictionary.
            tags: Tags of the model.
            seed: Seed of every random choice.
            columns: Column roles of files and frames, as in `upload_dataset`.
            **fields: `label_map`, `allow_absent_features`, `limits`, `priority`, `name`, `notes` and
                `project`, as in `train`.

        Returns:
            The job: `leaderboard` returns its candidates, also while it runs; `conclusion` returns the
            quality of the model, and `model` the model.

        Example:
            ```python
            job = await client.train_best("web", dataset, budget_seconds=600)
            print((await job.wait()).conclusion.sentence)
            ```
        """
        spec = {
            "kind": "auto-train",
            "model_name": model_name,
            "dataset_id": await self._dataset_id(dataset, columns, f"{model_name} train"),
            "test_dataset_id": await self._held_out(test, columns, f"{model_name} test"),
            "budget_seconds": budget_seconds,
            "metric": metric,
            "prefer": prefer,
            "candidates": arguments.texts_field(candidates),
            "contract": contract,
            "tags": tags,
            "seed": seed,
            **fields,
        }
        return await self.submit(without_none(spec))

    async def grid(
        self,
        model_name: str,
        dataset: DatasetSource,
        parameters: Mapping[str, Sequence[Any]],
        loss: requests.LossName | requests.Loss = "ndcg-loss2++",
        *,
        repeats: int | requests.RepeatsRequest | None = None,
        **training: Any,
    ) -> AsyncGrid:
        """Train a model for each point of a grid; if one training is refused, none is queued.

        Args:
            model_name: Model name of which the models become versions.
            dataset: Training data, as in `train`.
            parameters: Values by hyperparameter: `{"num_leaves": [31, 63], "loss": ["listnet", "mse"]}`; also
                `loss.mu` for an option of the loss, `scorer`, `scorer.dropout` and `seed`.
            loss: Loss of all points if the grid has no losses.
            repeats: Number of trainings of each point, on bootstrap samples with consecutive seeds.
            **training: Other arguments of `train`.

        Returns:
            The trainings; `wait` for them, then `best` is the best one.

        Raises:
            InvalidArgument: A parameter has no values.
            RankeryApiError: The service refused a job; the message names it by its position, `/jobs/0`.

        Example:
            ```python
            grid = await client.grid("web", dataset, {"num_leaves": [15, 31]}, validation=0.2)
            print((await grid.wait()).best)
            ```
        """
        parameters = mapping_of(parameters, "a grid, such as {'num_leaves': [31, 63]},")
        for name, given in parameters.items():
            values = plain_value(given)
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise InvalidArgument(f"{name}: a grid takes a list of values, not {values!r:.60}")
            parameters[name] = list(map(plain_value, values))
        # Requested before the jobs are queued: an error would leave the caller without them.
        described = (await self.transport.get("/v1/metrics"))["items"]
        spec = await self._training(model_name, dataset, loss, **training)
        jobs = await self.submit_all(list(points(spec, parameters)), repeats=repeats)
        # The service stores metrics in its spelling.
        metric = (jobs[0].spec.get("metrics") or arguments.DEFAULT_METRICS)[0]
        name = metric.partition("@")[0]
        higher_is_better = all(one["higher_is_better"] for one in described if one["name"] == name)
        return AsyncGrid(jobs, list(parameters), metric, higher_is_better=higher_is_better)

    async def _training(
        self,
        model_name: str,
        dataset: DatasetSource,
        loss: requests.LossName | requests.Loss,
        *,
        validation: DatasetSource | float | requests.Validation | None = None,
        folds: int | str | None = None,
        test: DatasetSource | float | requests.HoldOut | None = None,
        scorer: requests.ScorerKind | requests.Scorer | None = None,
        metrics: Sequence[str] | None = None,
        early_stopping: int | requests.EarlyStoppingRequest | None = None,
        init_model: str | HasId | None = None,
        distribution: int | requests.DistributionRequest | None = None,
        columns: arguments.Columns | None = None,
        clicks: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Upload the data of a training, and return its request; arguments are those of `train`."""
        held_validation = await self._held_out(validation, columns, f"{model_name} validation")
        held_test = await self._held_out(test, columns, f"{model_name} test")
        spec = {
            "kind": "train",
            "model_name": model_name,
            "dataset_id": await self._dataset_id(dataset, columns, f"{model_name} train"),
            "loss": arguments.loss_field(loss),
            "validation": arguments.validation_field(held_validation, folds),
            **arguments.test_fields(held_test),
            "scorer": arguments.scorer_field(scorer),
            "metrics": arguments.texts_field(metrics),
            "early_stopping": arguments.early_stopping_field(early_stopping, arguments.texts_field(metrics)),
            "init_model": None if init_model is None else id_of(init_model),
            "distribution": arguments.distribution_field(distribution),
            "clicks": arguments.clicks_field(clicks),
            **fields,
        }
        return without_none(spec)
