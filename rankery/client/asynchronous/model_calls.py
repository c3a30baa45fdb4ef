"""Calls about models and their aliases."""

from collections.abc import Sequence
from typing import Unpack

import httpx

from rankery.client.arguments import texts_field
from rankery.client.asynchronous.alias_calls import AsyncAliasCalls, alias_path, move_alias
from rankery.client.asynchronous.job import AsyncJob, AsyncModel
from rankery.client.asynchronous.resource import AsyncPages
from rankery.client.references import HasId, escaped_reference
from rankery.client.schemas.requests import DistilRequest


class AsyncModelCalls(AsyncAliasCalls):
    """Calls about models and their aliases."""

    def models(
        self,
        name: str | None = None,
        *,
        tag: str | Sequence[str] | None = None,
        project: str | None = None,
    ) -> AsyncPages[AsyncModel]:
        """List versions of models, newest first.

        Args:
            name: Only versions of this name.
            tag: Only models with a tag, as `name` or `name:value`; with all tags of a list.
            project: Only models of this project; `-` for no project.
        """
        return self._pages(AsyncModel, "/v1/models", name=name, tag=texts_field(tag), project=project)

    async def model(self, reference: str | HasId) -> AsyncModel:
        """Return a model by reference.

        Args:
            reference: Id, name (its latest version), `name:version` or `name@alias`.
        """
        return self._bound(AsyncModel, await self.transport.get(f"/v1/models/{escaped_reference(reference)}"))

    async def reproduce(self, reference: str | HasId) -> AsyncJob:
        """Train a model again from its lineage; the job's result states whether the bytes are equal.

        Args:
            reference: Id, name, `name:version` or `name@alias`.

        Raises:
            RankeryApiError: The model cannot be reproduced, for example because its data were deleted.
        """
        path = f"/v1/models/{escaped_reference(reference)}/reproduce"
        return self._bound(AsyncJob, await self.transport.create(path))

    async def distil(self, reference: str | HasId, **options: Unpack[DistilRequest]) -> AsyncJob:
        """Distil a model into a forest, for engines that read only forests.

        Its finding `distilled` has the value of both models on test queries, and the difference.

        Args:
            reference: The teacher, such as a sum or a network: id, name, `name:version` or `name@alias`.
            **options: `model_name`, `dataset_id`, `test_dataset_id`, `leaves`, `iterations`, `metrics`
                and `features`; and `limits`, `priority`, `name`, `notes`, `tags` and `project` of the job.

        Example:
            ```python
            job = await client.distil("both", leaves=31)
            model = await (await job.wait()).model()
            ```
        """
        path = f"/v1/models/{escaped_reference(reference)}/distil"
        return self._bound(AsyncJob, await self.transport.create(path, dict(options)))

    async def set_alias(self, name: str, alias: str, version: int) -> AsyncModel | AsyncJob:
        """Point an alias such as `champion` at a version of a model.

        Args:
            name: The model's name.
            alias: The alias, which is created if new.
            version: Version that the alias is to point at.

        Returns:
            The model; or, if the alias has a gate, the job of kind `promote` that checks the version and
            moves the alias if the gate passes.
        """
        response = await move_alias(self.transport, name, alias, version)
        document = response.json()
        if response.status_code == httpx.codes.ACCEPTED:
            return self._bound(AsyncJob, document)
        return self._bound(AsyncModel, document)

    async def roll_back(self, name: str, alias: str) -> AsyncModel:
        """Undo the last move of an alias that is not undone yet, ignoring its gate.

        Returns:
            The model that the alias then points at.

        Raises:
            RankeryApiError: The alias has no move to undo.
        """
        return self._bound(AsyncModel, await self.transport.create(f"{alias_path(name, alias)}/rollback"))
