"""Check the readiness of the service: of all parts, or of the parts that scoring or jobs need."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from app.http.probes import TIMEOUT_SECONDS, Probe, faults_of
from app.http.services import injected
from app.scoring.kernels import ScoringKernels
from app.scoring.served_models import ServedModels
from core.errors import StoreUnavailable
from core.jobs import LANES
from core.store import Store, WakeUps

MAX_DAMAGED_LISTED = 20
_READS, _WRITES = ("database reads", "storage reads"), ("database writes", "storage writes")
_ABSENT = "are missing"


class Purpose(StrEnum):
    """Purpose of a readiness check."""

    SCORING = "scoring"
    JOBS = "jobs"


_NEEDED: Mapping[Purpose | None, tuple[str, ...]] = MappingProxyType(
    {
        None: (*_WRITES, "broker", "workers", "kernels"),
        Purpose.SCORING: (*_READS, "kernels"),
        Purpose.JOBS: (*_WRITES, "broker", "workers"),
    }
)
# Parts that scoring with models in memory does not need.
_NEEDED_TO_READ_MODELS = frozenset({"database", "storage"})


@dataclass(frozen=True)
class ReadinessResult:
    """Result of a readiness check.

    Attributes:
        faults: Fault of each part, None where it works.
        tolerated: Parts whose faults do not affect the purpose.
        damaged: Keys of damaged artifacts, which are not a fault of a part.
    """

    faults: Mapping[str, str | None]
    tolerated: frozenset[str] = frozenset()
    damaged: tuple[str, ...] = ()

    @property
    def down(self) -> list[str]:
        """Faults that affect the purpose, a sentence each."""
        return [
            f"the {name} {fault}"
            for name, fault in self.faults.items()
            if fault is not None and name not in self.tolerated
        ]


class Readiness:
    """Concurrent checks of the parts of the service, each with a timeout of two seconds."""

    def __init__(
        self, store: Store, wake_ups: WakeUps, kernels: ScoringKernels, models: ServedModels
    ) -> None:
        self._models = models
        self._probes: Mapping[str, Probe[str | None]] = {
            "database reads": Probe(store.read_fault),
            "database writes": Probe(store.fault),
            "storage reads": Probe(store.artifacts.read_fault),
            "storage writes": Probe(store.artifacts.fault),
            "broker": Probe(wake_ups.fault),
            "workers": Probe(lambda: _workers_fault(store)),
            "kernels": Probe(kernels.fault),
        }
        self._damage = Probe(lambda: _damaged_artifacts(store))

    async def check(self, purpose: Purpose | None = None) -> ReadinessResult:
        """Check the parts that a purpose needs; without a purpose, all parts."""
        # The first word of a check is the name of its component in the response.
        probes = {name.partition(" ")[0]: self._probes[name] for name in _NEEDED[purpose]}
        faults, damaged = await asyncio.gather(faults_of(probes), self._damaged())
        return ReadinessResult(faults, self._tolerated(purpose, faults), tuple(damaged))

    async def can_score(self) -> bool:
        """Return whether models can be scored here."""
        return not (await self.check(Purpose.SCORING)).down

    def _tolerated(self, purpose: Purpose | None, faults: Mapping[str, str | None]) -> frozenset[str]:
        if purpose == Purpose.SCORING and self._models.usage().models > 0:
            return _NEEDED_TO_READ_MODELS
        are_absent = (faults.get("workers") or "").startswith(_ABSENT)
        return frozenset({"workers"}) if purpose is None and are_absent else frozenset()

    async def _damaged(self) -> list[str]:
        try:
            return await self._damage.answer(TIMEOUT_SECONDS)
        except (TimeoutError, StoreUnavailable):
            return []  # the check of the database reports it


UseReadiness = Annotated[Readiness, injected(Readiness)]


def _damaged_artifacts(store: Store) -> list[str]:
    with store.read() as tx:
        return tx.artifacts.damaged(MAX_DAMAGED_LISTED)


def _workers_fault(store: Store) -> str | None:
    try:
        with store.read() as tx:
            workers = tx.workers.live()
    except StoreUnavailable:
        return None  # the check of the database reports it
    ready_lanes = {worker.lane for worker in workers if worker.compiling is None}
    missing_lanes = [lane for lane in LANES if lane not in ready_lanes]
    compiling = next((worker.compiling for worker in workers if worker.compiling is not None), None)
    if missing_lanes and compiling is not None:
        return f"are compiling kernels: {compiling}"
    if not missing_lanes:
        return None
    noun = "lanes" if len(missing_lanes) > 1 else "lane"
    return f"{_ABSENT} for the {noun} {' and '.join(missing_lanes)}"
