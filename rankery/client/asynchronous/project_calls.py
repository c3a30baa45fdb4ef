"""Calls about projects."""

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.listing import Listing
from rankery.client.reading import read
from rankery.client.views.project import ProjectView


class AsyncProjectCalls(AsyncCalls):
    """Calls about projects."""

    async def projects(self) -> Listing[ProjectView]:
        """Return the projects, in alphabetical order, with how much each has."""
        answer = await self.transport.get("/v1/projects")
        return Listing(read(ProjectView, one) for one in answer["items"])
