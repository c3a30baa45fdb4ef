"""Route that lists the projects with their numbers of objects."""

from pydantic import Field

from app.http.labels import ProjectName
from app.http.openapi import etag_responses
from app.http.route import PolledRoute, Router
from app.http.schemas import ResponseModel
from app.http.services import UseServices
from core.store.visibility import visible_projects

router = Router(prefix="/v1/projects", tags=["overview"], route_class=PolledRoute)


class ProjectCounts(ResponseModel):
    """Number of objects by kind."""

    jobs: int = Field(0, examples=[12])
    models: int = Field(0, description="Number of model versions", examples=[3])
    datasets: int = Field(0, examples=[2])
    click_logs: int = Field(0, examples=[1])
    evaluations: int = Field(0, examples=[4])
    comparisons: int = Field(0, examples=[1])
    rankings: int = Field(0, examples=[4])
    inspections: int = Field(0, examples=[1])
    drift_reports: int = Field(0, examples=[1])
    studies: int = Field(0, examples=[1])
    experiments: int = Field(0, examples=[0])
    schedules: int = Field(0, examples=[1])
    interleavings: int = Field(0, examples=[1])


class Project(ProjectCounts):
    """A project with its number of objects by kind."""

    name: ProjectName


class Projects(ResponseModel):
    """All projects of the caller."""

    items: list[Project] = Field(description="Projects by name")
    unassigned: ProjectCounts | None = Field(
        description="Number of objects without a project; null for a key that is bound to projects"
    )
    bound: bool = Field(description="Whether the API key is bound to these projects", examples=[False])


@router.get("", summary="List projects", responses=etag_responses())
def list_projects(services: UseServices) -> Projects:
    """List the projects with their number of objects by kind.

    A project is listed as long as an object of these kinds has its name. A key that is bound to projects gets
    all of its projects, empty ones included.
    """
    allowed = visible_projects()
    with services.store.read() as tx:
        counts = tx.projects.counts()
    unassigned = counts.pop(None, {})
    names = sorted({*(name for name in counts if name is not None), *(allowed or ())})
    return Projects(
        items=[Project(name=name, **counts.get(name, {})) for name in names],
        unassigned=None if allowed is not None else ProjectCounts(**unassigned),
        bound=allowed is not None,
    )
