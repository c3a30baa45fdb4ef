"""Studies, experiments and schedules."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import moment, number, reason
from rankery.client.schemas import answers

_ENDED = ("succeeded", "failed", "cancelled")


class StudyView(Displayable, answers.Study):
    """A hyperparameter study, as last fetched from the service."""

    @property
    def has_ended(self) -> bool:
        """True if the study has ended, with any status."""
        return self.status in _ENDED

    @property
    def sentence(self) -> str | None:
        """Conclusion in a sentence, None before the study has concluded."""
        return self.conclusion.sentence if self.conclusion else None

    @property
    def ended_trials(self) -> int:
        """Number of trials that have ended, with any status."""
        return self.counts.asked - self.counts.queued - self.counts.running

    def news(self) -> str:
        """Return the progress of the study in one line."""
        counts = self.counts
        parts = [f"{self.ended_trials} of {self.budget.trials} trials"]
        parts += [f"{counts.pruned} pruned"] if counts.pruned else []
        parts += [f"{counts.failed} failed"] if counts.failed else []
        if self.best is not None:
            parts.append(f"best {self.objective['metric']} {self.best.value:.4f} (trial {self.best.number})")
        return ", ".join([self.status, *parts])

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status,
            "best": number(self.best.value if self.best else None),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "id": self.id,
            "name": self.name,
            "dataset": self.dataset_id,
            "status": self.news(),
            "created": moment(self.created_at),
        }
        values = [[name, number(one.value if one else None)] for name, one in self._values().items()]
        table = CardTable(["trial", f"#{self.objective['metric']}"], values, "Value on validation data")
        return Card("study", facts, self.sentence or "", [table])

    def _values(self) -> dict[str, answers.TrialValue | None]:
        best = f"best (trial {self.best.number})" if self.best else "best"
        return {"default": self.default, best: self.best}


class ExperimentView(Displayable, answers.Experiment):
    """An experiment, as last fetched from the service."""

    @property
    def has_ended(self) -> bool:
        """Whether it succeeded, failed or was cancelled."""
        return self.status in _ENDED

    @property
    def done(self) -> int:
        """Number of ended trainings."""
        return sum(getattr(self.counts, status) for status in _ENDED)

    @property
    def total(self) -> int:
        """Number of required trainings; 0 before the datasets are ready."""
        return self.done + self.counts.planned + self.counts.queued + self.counts.running

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "paper": self.paper,
            "scale": self.scale,
            "data": self.data,
            "status": self.status,
            "trainings": f"{self.done:,} of {self.total:,}",
            "created": moment(self.created_at),
        }

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "status": self.status,
            "why": reason(self.problem),
            "tables": ", ".join(self.tables),
            "scale": self.scale,
            "data": self.data,
            "trainings": f"{self.done:,} of {self.total:,}",
            "created": moment(self.created_at),
            "ended": moment(self.finished_at),
        }
        claims = [
            [table["name"], claim["verdict"], claim["statement"]]
            for table in (self.report or {}).get("tables", ())
            for claim in table["claims"]
        ]
        tables = [CardTable(["table", "verdict", "claim"], claims)] if claims else []
        return Card(f"experiment {self.id}: {self.title}", facts, self.sentence or "", tables)


_UNFINISHED = frozenset({"queued", "training", "running", "promoting"})


class ScheduleRunView(Displayable, answers.ScheduleRun):
    """One run of a schedule."""

    @property
    def has_ended(self) -> bool:
        """True if the run has ended, with any status."""
        return self.status not in _UNFINISHED

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "due": moment(self.due_at),
            "status": self.status,
            "detail": self.detail or "",
            "job": self.job_id or self.study_id or "",
            "model": self.model_id or "",
        }

    def card(self) -> Card:
        """Return the card of the run."""
        return Card(f"run of schedule {self.schedule_id}", self.summary())


class ScheduleView(Displayable, answers.Schedule):
    """A schedule that queues a job periodically."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "id": self.id,
            "name": self.name,
            "cron": f"{self.cron} {self.timezone}",
            "next run": moment(self.next_run_at) if self.enabled else "paused",
            "last run": self.last_run.status if self.last_run else "",
        }

    def card(self) -> Card:
        """Return the card of the schedule."""
        facts = self.summary() | {
            "why": reason(self.problem),
            "job": str(self.job.get("kind", "")),
            "model": str(self.job.get("model_name") or self.job.get("model") or ""),
            "promotes to": (self.promote or {}).get("alias", ""),
            "project": self.project or "",
        }
        rows = [[moment(at)] for at in self.next_runs]
        tables = [CardTable(["next runs"], rows)] if rows else []
        return Card(f"schedule {facts.pop('name')}", facts, tables=tables)
