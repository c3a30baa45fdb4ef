"""Calls about models and their aliases."""

from collections.abc import Sequence
from typing import Any

import httpx

from rankery.client.asynchronous.calls import AsyncCalls
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.model import AsyncModel
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.listing import Listing
from rankery.client.reading import read
from rankery.client.references import HasId, address_of
from rankery.client.schemas.answers import Alias, AliasMove
from rankery.client.schemas.requests import GateRequest
from rankery.client.views.gate import GateView


class AsyncModelCalls(AsyncCalls):
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
            tag: Only those with a tag, as `name` or `name:value`; of several, with all.
            project: Only those of this project; `-` for those of none.
        """
        tags = tag if tag is None or isinstance(tag, str) else list(tag)
        return self._pages(AsyncModel, "/v1/models", name=name, tag=tags, project=project)

    async def model(self, reference: str | HasId) -> AsyncModel:
        """Return a model by reference.

        Args:
            reference: Id, name (its latest version), `name:version` or `name@alias`.

        Raises:
            RankeryApiError: There is none.
        """
        return self._bound(AsyncModel, await self.transport.get(f"/v1/models/{address_of(reference)}"))

    async def reproduce(self, reference: str | HasId) -> AsyncJob:
        """Train a model again; the job's result says whether the same bytes came out.

        Args:
            reference: Id, name, `name:version` or `name@alias`.

        Raises:
            RankeryApiError: It cannot be made again, as where its data are gone.
        """
        path = f"/v1/models/{address_of(reference)}/reproduce"
        return self._bound(AsyncJob, await self.transport.create(path))

    async def aliases(self, name: str) -> Listing[Alias]:
        """Return the aliases of a model's name, in alphabetical order.

        Raises:
            RankeryApiError: There is no such model.
        """
        document = await self.transport.get(f"/v1/models/{name}/aliases")
        return Listing(read(Alias, one) for one in document["items"])

    async def set_alias(self, name: str, alias: str, version: int) -> AsyncModel | AsyncJob:
        """Point an alias such as `champion` at a version of a model.

        Args:
            name: The model's name.
            alias: The alias, made where it is new.
            version: Where it is to point.

        Returns:
            The model; or, where the alias has a gate, the job of kind `promote` that compares the two
            versions and moves it.

        Raises:
            RankeryApiError: There is no such version.
        """
        # Behind a gate each request is a job of its own.
        response = await self.transport.request(
            "PUT", _alias(name, alias), json={"version": version}, repeatable=False
        )
        document = response.json()
        if response.status_code == httpx.codes.ACCEPTED:
            return self._bound(AsyncJob, document)
        return self._bound(AsyncModel, document)

    async def remove_alias(self, name: str, alias: str) -> None:
        """Remove an alias; its history and its gate stay.

        Raises:
            RankeryApiError: There is none.
        """
        await self.transport.request("DELETE", _alias(name, alias), repeatable=False)

    async def roll_back(self, name: str, alias: str) -> AsyncModel:
        """Undo the last move of an alias that is not undone yet, past its gate.

        Returns:
            The model that it points at then.

        Raises:
            RankeryApiError: There is no move to undo.
        """
        return self._bound(AsyncModel, await self.transport.create(f"{_alias(name, alias)}/rollback"))

    def alias_history(self, name: str, alias: str) -> AsyncPages[AliasMove]:
        """List the moves of an alias and the refusals of its gate, newest first."""
        path = f"{_alias(name, alias)}/history"
        return AsyncPages(self.transport, path, lambda one: read(AliasMove, one))

    async def gates(self, name: str | None = None) -> Listing[GateView]:
        """Return the promotion gates of aliases, in alphabetical order.

        Args:
            name: Only those of this model; of all models if None.
        """
        names = [name] if name is not None else [model["name"] async for model in self._aliased_names()]
        found: Listing[GateView] = Listing()
        for one in sorted(names):
            for alias in await self.aliases(one):
                if alias.gated:
                    found.append(await self.gate(one, alias.alias))
        return found

    def _aliased_names(self) -> AsyncPages[Any]:
        return AsyncPages(self.transport, "/v1/model-names", lambda one: one, fields="name")

    async def gate(self, name: str, alias: str) -> GateView:
        """Return the promotion gate of an alias.

        Raises:
            RankeryApiError: The alias has no gate.
        """
        return read(GateView, await self.transport.get(f"{_alias(name, alias)}/gate"))

    async def set_gate(self, name: str, alias: str, gate: GateRequest) -> GateView:
        """Set the promotion gate of an alias.

        Args:
            name: The model's name.
            alias: The alias.
            gate: `{"dataset_id", "metric", "require", …}`.

        Raises:
            RankeryApiError: The service refused it.
        """
        response = await self.transport.request("PUT", f"{_alias(name, alias)}/gate", json=dict(gate))
        return read(GateView, response.json())

    async def remove_gate(self, name: str, alias: str) -> None:
        """Delete the promotion gate of an alias.

        Raises:
            RankeryApiError: It has no gate.
        """
        await self.transport.request("DELETE", f"{_alias(name, alias)}/gate", repeatable=False)


def _alias(name: str, alias: str) -> str:
    return f"/v1/models/{address_of(name)}/aliases/{address_of(alias)}"
