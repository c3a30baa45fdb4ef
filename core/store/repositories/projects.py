"""Tags and projects: assignment of new rows, moves between projects, and owners of model names."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from core.errors import InvalidInput
from core.jobs import JobSpec
from core.jobs.auto_train import AutoTrainJob
from core.jobs.base import ACTIVE
from core.jobs.drift import DriftJob
from core.jobs.ingest import ImportModelJob
from core.jobs.train import TrainJob
from core.store import tables
from core.store.engines import advisory_lock
from core.store.repositories.repository import insert_row
from core.store.visibility import limited_to, visible_projects, with_trash

MAX_TAGS = 64
PROJECT_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"
PROJECT_RULE = "must be 1 to 64 of a-z, 0-9, '.', '_' and '-', the first a letter or digit"

# Results of a job belong to the project of the job. A model belongs to the project of its name.
_RESULTS: tuple[Any, ...] = (tables.Evaluation, tables.Comparison, tables.Ranking, tables.Inspection)
_OBJECTS_OF_JOBS: tuple[Any, ...] = (tables.Dataset, tables.ClickLog, tables.DriftReport, *_RESULTS)
_COUNTED: tuple[Any, ...] = (
    *(tables.Job, tables.Model, tables.Dataset, tables.ClickLog, *_RESULTS, tables.DriftReport),
    *(tables.Study, tables.Experiment, tables.Schedule, tables.Interleaving),
)
_ENDED_STUDIES = ("succeeded", "failed", "cancelled")
_NAME_LOCKS = 0x4E414D45  # namespace of advisory locks: "NAME"


@dataclass(frozen=True)
class Labels:
    """The labels of a job.

    Attributes:
        name: Title instead of the default one, or None.
        project: Project, None to inherit it.
    """

    name: str | None = None
    notes: str | None = None
    tags: Mapping[str, str] | None = None
    project: str | None = None


NO_LABELS = Labels()


class Projects:
    """Projects within one transaction.

    A project is only a name in rows. `visibility.limited_to` limits callers to some projects.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def for_new_object(self, requested: str | None, inherited: str | None = None) -> str | None:
        """Return the project of a new row: the given one, else the inherited, else the caller's only one.

        Raises:
            InvalidInput: At `/project`: the caller is limited to other projects, or must select a project.
        """
        project, allowed = requested or inherited, visible_projects()
        if allowed is None:
            return project
        if project is None and len(allowed) == 1:
            return allowed[0]
        if project not in allowed:
            problem = "required" if project is None else f"{project} is not a project of the API key"
            raise InvalidInput.at("/project", f"{problem}; use one of {', '.join(allowed)}")
        return project

    def of_job(self, spec: JobSpec, requested: str | None) -> str | None:
        """Return the project of a new job.

        The project is the first of: the given project; that of the model that the job makes, distils or
        examines for drift; that of its dataset or click log.

        Raises:
            InvalidInput: See `for_new_object` and `claim_name`.
        """
        inherited = self._of_data(tables.Dataset, spec.dataset_ids.values())
        inherited = inherited or self._of_data(tables.ClickLog, spec.click_log_ids.values())
        if isinstance(spec, TrainJob) and spec.teacher_name is not None:
            teacher = self._model_name(spec.teacher_name)
            inherited = (teacher and teacher.project) or inherited
        if spec.made_model_name is not None:
            return self.claim_name(spec.made_model_name, requested, inherited)
        if isinstance(spec, DriftJob) and spec.system.model_id is not None:
            model = self._session.get(tables.Model, spec.system.model_id)
            inherited = (model and model.project) or inherited
        return self.for_new_object(requested, inherited)

    def claim_name(self, name: str, requested: str | None, inherited: str | None = None) -> str | None:
        """Return the project of a model name that gets another version.

        A name without a version, and without an active job or study that makes one, is assigned to the
        project of the new version.

        Raises:
            InvalidInput: At `/model_name`: the name belongs to a project that the caller may not read. At
                `/project`: the given project is not that of the name, and as `for_new_object`.
        """
        row = self._model_name(name)
        if row is None or not row.last_version:
            self.lock_names([name])
            row = self._model_name(name)
        if row is not None and (row.last_version or self._is_awaited(name)):
            return _existing_project(row, requested)
        project = self.for_new_object(requested, inherited)
        if row is None:
            insert_row(self._session, tables.ModelName(name=name, last_version=0, project=project))
        else:
            row.project = project
            self._session.flush()
        return project

    def lock_names(self, names: Iterable[str]) -> None:
        """Take the locks of names in one order, so that transactions do not deadlock."""
        for name in sorted(set(names)):
            advisory_lock(self._session, _NAME_LOCKS, name)

    def move_job(self, job: tables.Job, project: str | None) -> None:
        """Move a job, with its results and the datasets and click logs that it read in or made, to a project.

        Raises:
            InvalidInput: The caller is limited to other projects.
        """
        project = self.for_new_object(project)
        job.project = project
        with with_trash(self._session), limited_to(None):
            for table in _OBJECTS_OF_JOBS:
                for row in self._session.scalars(select(table).where(table.job_id == job.id)):
                    row.project = project
        self._session.flush()

    def move_data(self, data: tables.Dataset | tables.ClickLog, project: str | None) -> None:
        """Move a dataset or click log, with the job that read or made it, to a project.

        Raises:
            InvalidInput: The caller is limited to other projects.
        """
        job = None if data.job_id is None else self._session.get(tables.Job, data.job_id)
        if job is not None:
            self.move_job(job, project)
        data.project = self.for_new_object(project)
        self._session.flush()

    def move_name(self, name: str, project: str | None) -> None:
        """Move a name of models, with all its versions, to a project.

        Raises:
            InvalidInput: The caller is limited to other projects.
        """
        project = self.for_new_object(project)
        self.lock_names([name])
        with with_trash(self._session), limited_to(None):
            row = self._session.get(tables.ModelName, name, with_for_update=True, populate_existing=True)
            for labelled in (
                row,
                *self._session.scalars(select(tables.Model).where(tables.Model.name == name)),
            ):
                if labelled is not None:
                    labelled.project = project
        self._session.flush()

    def counts(self) -> dict[str | None, dict[str, int]]:
        """Count the rows of every project by table; None is the key of rows without a project."""
        by_project: dict[str | None, dict[str, int]] = {}
        for table in _COUNTED:
            rows = select(table.project, func.count()).group_by(table.project)
            for project, number in self._session.execute(rows):
                by_project.setdefault(project, {})[table.__tablename__] = number
        return by_project

    def _model_name(self, name: str) -> tables.ModelName | None:
        with limited_to(None):  # in any project
            return self._session.get(tables.ModelName, name, populate_existing=True)

    def _is_awaited(self, name: str) -> bool:
        """Return whether an active job or study makes a version of the name."""
        makes_version = tables.Job.specification_has(f'"model_name": {json.dumps(name)}')
        kinds = (TrainJob.kind, AutoTrainJob.kind, ImportModelJob.kind)
        jobs = select(tables.Job.id).where(
            tables.Job.status.in_(ACTIVE), tables.Job.kind.in_(kinds), makes_version
        )
        studies = select(tables.Study.id).where(
            tables.Study.model_name == name, tables.Study.status.not_in(_ENDED_STUDIES)
        )
        with limited_to(None):
            return bool(self._session.scalar(select(or_(jobs.exists(), studies.exists()))))

    def _of_data(self, table: Any, object_ids: Iterable[str]) -> str | None:
        """Return the project of the first dataset or click log that has one."""
        for object_id in object_ids:
            row = self._session.get(table, object_id)
            if row is not None and row.project is not None:
                return str(row.project)
        return None


def changed_tags(tags: Mapping[str, str] | None, changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return tags with changes; None removes a tag.

    Raises:
        InvalidInput: There would be too many tags.
    """
    merged = {**(tags or {}), **changes}
    remaining = {tag: value for tag, value in merged.items() if value is not None}
    if len(remaining) > MAX_TAGS:
        raise InvalidInput.at("/tags", f"would result in {len(remaining)} tags; the maximum is {MAX_TAGS}")
    return remaining


def is_project_name(name: str) -> bool:
    """Return whether a text may be the name of a project."""
    return re.match(PROJECT_NAME, name) is not None and "\n" not in name


def _existing_project(name: tables.ModelName, requested: str | None) -> str | None:
    """Return the project of a model name; refuse another given project, or a name that is not visible."""
    allowed = visible_projects()
    if allowed is not None and name.project not in allowed:
        raise InvalidInput.at("/model_name", f"{name.name} is not available; choose another name")
    if requested not in (None, name.project):
        owner = "no project" if name.project is None else f"the project {name.project}"
        raise InvalidInput.at(
            "/project",
            f"the models {name.name} belong to {owner}; leave this out, choose another name, or move them by"
            f" PATCH /v1/models/{name.name}",
        )
    return name.project
