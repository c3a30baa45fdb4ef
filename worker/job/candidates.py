"""Try the candidates of an automatic training, in parallel with other workers; resume earlier attempts."""

import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from core.autotrain import AutoSpec, Candidate, Trials, Tried, portfolio
from core.autotrain.held_out import mean_of
from core.autotrain.search import BUDGET_EXHAUSTED, WAVE, reserve_seconds, rivals_before, trial_seconds
from core.autotrain.trials import FoldScores, Status
from core.errors import InvalidInput, NotFound
from core.jobs.auto_train import AutoTrainJob, TryCandidatesJob
from core.jobs.folders import candidates_folder
from core.jobs.train import TrainJob
from core.kernel_cache import processor
from core.losses import loss_values
from core.parameters import values_of
from core.scorers import scorer_values
from core.store import Candidate as CandidateRow
from core.store import Transaction
from core.store.artifacts.keys import candidate_key
from core.store.repositories.candidates import NOT_TRIED, QUEUED, Claim
from core.store.repositories.projects import Labels
from core.studies.pruning import WILCOXON_P
from core.training.checkpoint import ARCHIVE_ERRORS
from worker.job.reporter import remaining_seconds
from worker.job.run import JobRun, spent_seconds_of
from worker.job.training_data import TrainingData, load_and_align

_WAIT_SECONDS = 0.2  # polling interval for candidates of the next wave
_MAX_HELPERS = WAVE - 1
_LIMIT_SHARE = 0.8  # share of a time limit to plan for: a job that reaches it ends without a model
_PROCESSOR = ".processor"  # end of the name of an empty file, which begins with a type of processor
_UNREADABLE = (NotFound, *ARCHIVE_ERRORS)
Json = dict[str, Any]


def load_training(run: JobRun, job: AutoTrainJob) -> tuple[TrainingData, TrainingData]:
    """Load the datasets of an automatic training: as stored, and with the features of the training data.

    Raises:
        InvalidInput: The metric does not fit the labels.
        FeaturesAbsent: The test data lacks most features, and the job does not allow that.
        DatasetError: A dataset has no features.
    """
    stored = job.to_json()
    names = ("model_name", "dataset_id", "test_dataset_id", "contract", "label_map", "seed", "limits")
    # The squared error accepts any labels; each candidate checks the labels for its loss.
    training = {name: stored.get(name) for name in names} | {
        "loss": {"name": "mse"},
        "metrics": [job.metric],
        "allow_absent_features": job.allow_absent_features,
    }
    return load_and_align(run, TrainJob.from_json(training))


class CandidateTrials:
    """Trials of the candidates of an automatic training within one of its jobs.

    Args:
        run: The job that tries them: the automatic training, or a helper job.
        data: Datasets of the automatic training, with the features of the training data.
    """

    def __init__(self, run: JobRun, auto_train_id: str, job: AutoTrainJob, data: TrainingData) -> None:
        self._run, self._auto_train_id, self._job = run, auto_train_id, job
        memory_bytes = run.bounds.memory_bytes
        free_bytes = None if memory_bytes is None else int(memory_bytes - (run.bounds.used_bytes() or 0))
        spec = AutoSpec(
            job.metric,
            min(job.budget_seconds, _LIMIT_SHARE * (run.bounds.seconds or np.inf)),
            job.measures.contract.to_json(),
            job.prefer,
            job.measures.seed,
            free_bytes,
        )
        self.trials = Trials(
            spec,
            data.training.dataset,
            threads=run.threads,
            clock=time.monotonic,
            check=run.lease.check,
        )
        self.portfolio = portfolio(job.candidates)
        self._claim = Claim(run.id, run.lease.token)
        self._tried: dict[int, Tried] = {}

    def plan(self) -> None:
        """Insert the rows of the candidates, unless an earlier attempt has done so."""
        self._record_processor()
        rows = [self._new_row(candidate) for candidate in self.portfolio]
        with self._run.store.begin() as tx:
            self._run.lease.renew_within(tx)
            if not tx.candidates.of(self._auto_train_id):
                tx.candidates.add(self._auto_train_id, rows)

    def try_all(self) -> tuple[list[Tried], list[str]]:
        """Try candidates until all have ended.

        Returns:
            The tried candidates in order, and the reasons of those that were stopped or not tried.
        """
        while True:
            self.try_available()
            with self._run.store.read() as tx:
                rows = tx.candidates.of(self._auto_train_id)
                tried = self._read_ended(tx) if tx.candidates.is_settled(self._auto_train_id) else None
            if tried is not None:
                self._report_count("selecting", *_fold_counts(rows))
                return [each for _, each in sorted(tried.items())], [row.reason for row in rows if row.reason]
            self._run.lease.check()
            time.sleep(_WAIT_SECONDS)

    def try_available(self) -> None:
        """Try candidates until none can be claimed now."""
        while (number := self._claim_next()) is not None:
            self._try(number)

    def report_fitted(self) -> None:
        """Count the trainings of the model's members as done, the last step of the job."""
        with self._run.store.read() as tx:
            completed, _ = _fold_counts(tx.candidates.of(self._auto_train_id))
        self._report_count("storing", completed + 1, completed)

    def processors(self) -> set[str]:
        """Return the types of the processors of all attempts and helper jobs so far."""
        files = self._run.store.artifacts.sizes(candidates_folder(self._auto_train_id))
        names = (key.rpartition("/")[2] for key, _ in files)
        return {name.removesuffix(_PROCESSOR) for name in names if name.endswith(_PROCESSOR)}

    def _record_processor(self) -> None:
        self._run.store.artifacts.write_bytes(
            candidate_key(self._auto_train_id, f"{processor()[0]}{_PROCESSOR}"), b""
        )

    def _claim_next(self) -> int | None:
        with self._run.store.begin() as tx:
            row = tx.candidates.claim(self._auto_train_id, self._claim, WAVE)
            if row is not None and self._run.id == self._auto_train_id:
                self._queue_helpers(tx)
            return None if row is None else row.number

    def _queue_helpers(self, tx: Transaction) -> None:
        """Queue helper jobs for the next candidates, once the number of folds is known."""
        rows = tx.candidates.of(self._auto_train_id)
        queued = [row for row in rows if row.status == QUEUED][:_MAX_HELPERS]
        missing = len(queued) - len(tx.candidates.helper_jobs(self._auto_train_id))
        if _planned_folds(rows) is None or missing <= 0:
            return
        spec = TryCandidatesJob(
            auto_train_id=self._auto_train_id,
            model_name=self._job.model_name,
            priority=self._job.priority,
            limits=self._job.limits,
        )
        labels = Labels(project=tx.jobs.get(self._auto_train_id).project)
        for _ in range(missing):
            tx.enqueue(spec, self._run.key_id, labels)

    def _try(self, number: int) -> None:
        candidate = self.portfolio[number]
        phase = f"trying {candidate.name}"
        self._run.reporter.phase(phase)
        self._record_processor()
        with self._run.store.read() as tx:
            rows = tx.candidates.of(self._auto_train_id)
            ended = self._read_ended(tx)
            spent = spent_seconds_of(tx, self._auto_train_id)
        read_at = time.monotonic()
        if (planned := _planned_folds(rows)) is not None:
            self._report_count(phase, *_fold_counts(rows, planned))
        is_first = all(row.status == NOT_TRIED for row in rows[:number])
        reserved = reserve_seconds(self.trials, list(ended.values()))
        available_seconds = trial_seconds(self.trials.spec) - reserved - spent

        def time_left() -> float:
            return available_seconds - (time.monotonic() - read_at)

        if not is_first and time_left() <= 0.0:
            self._record(number, status=NOT_TRIED, reason=BUDGET_EXHAUSTED)
            return

        def on_fold(done: int, folds: int) -> None:
            self._record(number, folds=done, planned_folds=folds)
            rows[number].folds = max(done, rows[number].folds)  # an earlier attempt may have done more
            completed, total = _fold_counts(rows, folds)
            elapsed = spent + time.monotonic() - read_at
            remaining = min(remaining_seconds(elapsed, completed, total), time_left())
            self._report_count(phase, completed, total, round(max(0.0, remaining), 1))

        try:
            tried = self.trials.try_candidate(
                number,
                candidate,
                planned,
                time_left=time_left,
                rivals=rivals_before(number, list(ended.items())),
                on_fold=on_fold,
                kept=_StoredFolds(self._run, self._auto_train_id),
                is_first=is_first,
            )
        except InvalidInput as refusal:
            self._record(number, status=NOT_TRIED, reason=str(refusal))
        else:
            self._store_tried(number, tried)

    def _store_tried(self, number: int, tried: Tried) -> None:
        self._tried[number] = tried
        with self._run.store.artifacts.writing(candidate_key(self._auto_train_id, f"{number}.npz")) as file:
            np.savez(file, scores=tried.scores, content=np.frombuffer(tried.content, np.uint8))
        reasons = {
            "stopped": "worse on the same queries than the best candidate so far, by a Wilcoxon test at"
            f" p < {WILCOXON_P}",
            "out-of-time": BUDGET_EXHAUSTED,
        }
        held_out = self.trials.held_out
        interval = held_out.interval(tried.values) if tried.is_measured else None
        self._record(
            number,
            status=tried.status,
            reason=reasons.get(tried.status),
            folds=tried.folds,
            iterations=tried.iterations,
            seconds=round(tried.seconds, 3),
            value=held_out.in_metric_units(mean_of(tried.values)) if tried.is_measured else None,
            interval=None if interval is None else list(interval),
        )

    def _report_count(self, phase: str, completed: int, folds: int, eta_seconds: float | None = None) -> None:
        """Report the completed folds of the planned ones; fitting the model afterwards is one more step."""
        progress = {"phase": phase, "iteration": completed, "total": folds + 1, "eta_seconds": eta_seconds}
        self._run.reporter.report(progress=progress)

    def _record(self, number: int, **columns: Any) -> None:
        with self._run.store.begin() as tx:
            tx.candidates.record(self._auto_train_id, number, self._claim, **columns)

    def _read_ended(self, tx: Transaction) -> dict[int, Tried]:
        """Return the tried candidates by number, with their scores on held-out folds."""
        for row in tx.candidates.of(self._auto_train_id):
            if row.status in ("complete", "stopped", "out-of-time") and row.number not in self._tried:
                self._tried[row.number] = self._read(row)
        return dict(self._tried)

    def _read(self, row: CandidateRow) -> Tried:
        content = self._run.store.artifacts.read_bytes(
            candidate_key(self._auto_train_id, f"{row.number}.npz")
        )
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            scores, content = arrays["scores"], _content(arrays)
        return Tried(
            self.portfolio[row.number],
            row.iterations or 0,
            scores,
            self.trials.held_out.values(scores),
            row.seconds,
            row.folds,
            cast("Status", row.status),
            content,
        )

    def _new_row(self, candidate: Candidate) -> Json:
        spec, reason = self.trials.training(candidate), self.trials.refusal(candidate)
        is_network = spec.scorer.is_network
        return {
            "name": candidate.name,
            "training": {
                "loss": loss_values(spec.loss),
                "scorer": scorer_values(spec.scorer) if is_network else {"kind": "trees"},
                "hyperparameters": None if is_network else values_of(spec.hyperparameters),
            },
            "status": QUEUED if reason is None else NOT_TRIED,
            "reason": reason,
        }


@dataclass(frozen=True)
class _StoredFolds:
    """Scores of folds, stored as artifacts for the next attempt."""

    run: JobRun
    auto_train_id: str

    def load(self, candidate: int, fold: int) -> FoldScores | None:
        """Return the scores of a fold, or None."""
        try:
            content = self.run.store.artifacts.read_bytes(self._key(candidate, fold))
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                return FoldScores(
                    arrays["iterations"],
                    arrays["scores"],
                    float(arrays["seconds"]),
                    bool(arrays["ended_early"]),
                    _content(arrays),
                )
        except _UNREADABLE:
            return None

    def keep(self, candidate: int, fold: int, scores: FoldScores) -> None:
        """Keep the scores of a completed fold."""
        with self.run.store.artifacts.writing(self._key(candidate, fold)) as file:
            np.savez(
                file,
                iterations=scores.iterations,
                scores=scores.scores,
                seconds=scores.seconds,
                ended_early=scores.ended_early,
                content=np.frombuffer(scores.content, np.uint8),
            )

    def _key(self, candidate: int, fold: int) -> str:
        return candidate_key(self.auto_train_id, f"{candidate}-{fold}.npz")


def _content(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the stored model of a fold; earlier releases stored none."""
    return arrays["content"].tobytes() if "content" in arrays else b""


def _planned_folds(rows: Sequence[CandidateRow]) -> int | None:
    return next((row.planned_folds for row in rows if row.planned_folds), None)


def _fold_counts(rows: Sequence[CandidateRow], planned: int = 0) -> tuple[int, int]:
    """Return the completed folds of all candidates, and their sum with the folds still planned.

    Args:
        planned: Planned folds of each candidate that has not ended.
    """
    tried = [row for row in rows if row.status != NOT_TRIED]
    total = sum(planned if row.status in (QUEUED, "running") else row.folds for row in tried)
    return sum(row.folds for row in tried), total
