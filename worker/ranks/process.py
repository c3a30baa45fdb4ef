"""Run one rank: one process of a distributed training, as in MPI.

The process ends immediately when it loses its driver or another rank, since its state can be rebuilt from a
checkpoint.
"""

import asyncio
import contextlib
import ctypes
import json
import logging
import os
import queue
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from core.errors import InvalidInput
from core.kernel_cache import processor
from core.machine import available_memory_bytes, peak_memory_bytes, process_memory_bytes
from core.stored import read_as
from core.subprocesses import die_with_parent
from core.training.memory import memory_need
from core.training.spec import training_spec
from worker.dask.settings import PortSettings
from worker.ranks.collectives import Collectives, Traffic
from worker.ranks.connections import Endpoint, Mesh, PeerLost, Refused
from worker.ranks.identity import DRIVER
from worker.ranks.parts import Part, packed, unpacked
from worker.ranks.placement import BEATS, Invitation
from worker.ranks.shard_training import ShardTraining

T = TypeVar("T")

DRIVER_ENDED, PEER_LOST = 0, 3  # exit codes: after the end or loss of the driver, or of another rank
_PR_SET_NAME = 15
_log = logging.getLogger("rankery.ranks")


class RankProcess:
    """A rank, which answers the driver's requests one after another in the main thread."""

    def __init__(self, invitation: Invitation) -> None:
        self._invitation = invitation
        self._rank = invitation.rank
        self._endpoint = Endpoint(invitation.identity, invitation.rank)
        self._mesh = Mesh(self._endpoint, invitation.rank)
        self._requests: queue.Queue[dict[str, Any]] = queue.Queue()
        self._began_at = time.monotonic()
        self._stage = "waiting"
        self._progress = 0, 0
        self._collectives: Collectives | None = None
        self._training: ShardTraining | None = None
        self._answers: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "load": self._load,
            "sample": self._sample,
            "bins": self._bins,
            "start": self._start,
            "grow": self._grow,
            "measure": self._measure,
            "state": self._state,
            "model": self._model,
            "leaf_counts": self._leaf_counts,
            "inspect": self._inspect,
        }

    def run(self) -> None:
        """Answer requests until the driver leaves."""
        endpoint, invitation = self._endpoint, self._invitation
        address = endpoint.listen(invitation.host, self._mesh.accept, PortSettings().ports)
        try:
            self._driver = endpoint.run(endpoint.connect(invitation.driver, DRIVER))
        except (OSError, Refused) as error:
            _log.warning("rank %s ends: it cannot reach its driver: %s", self._rank, error)
            os._exit(DRIVER_ENDED)
        hello = {"address": address, "host": socket.gethostname(), "processor": processor()[0]}
        endpoint.run(self._driver.send({"hello": hello}))
        endpoint.run_in_background(self._listen())
        endpoint.run_in_background(self._beat())
        while True:
            request = self._requests.get()
            reply = self._answer(request)
            self._enter("waiting")
            endpoint.run(self._driver.send({**reply, "condition": self._condition()}))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"reply": self._answers[request["do"]](request)}
        except InvalidInput as invalid:
            return {"invalid": [[problem.pointer, problem.detail] for problem in invalid.problems]}
        except Exception as error:  # noqa: BLE001 - the driver reports it
            _log.exception("rank %s failed: %s", self._rank, request["do"])
            return {"failed": f"{type(error).__name__}: {error}"}

    async def _listen(self) -> None:
        """Receive the driver's messages; end the process when the driver is lost or silent."""
        silence = self._invitation.silence_seconds
        with contextlib.suppress(OSError, TimeoutError):
            while True:
                async with asyncio.timeout(silence):
                    message = await self._driver.receive()
                if "do" in message:
                    self._requests.put(message)
        os._exit(DRIVER_ENDED)

    async def _beat(self) -> None:
        """Send heartbeats with the condition of the rank to the driver."""
        pause = self._invitation.silence_seconds / BEATS
        with contextlib.suppress(OSError):
            while True:
                await self._driver.send({"condition": self._condition()})
                await asyncio.sleep(pause)

    def _condition(self) -> dict[str, Any]:
        traffic = self._collectives.traffic if self._collectives else Traffic()
        done, total = self._progress
        return {
            "stage": self._stage,
            "done": done,
            "total": total,
            "memory_bytes": process_memory_bytes() or 0,
            "peak_memory_bytes": peak_memory_bytes() or 0,
            "sent_bytes": traffic.sent_bytes,
            "waiting_share": round(traffic.waiting_seconds / max(time.monotonic() - self._began_at, 1e-9), 4),
        }

    def _enter(self, stage: str) -> None:
        """Set the stage, which is reported to the driver and shown in the process name."""
        self._stage = stage
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).prctl(_PR_SET_NAME, f"rank {self._rank} {stage}".encode()[:15], 0, 0, 0)

    def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        self._enter("loading")
        spec = training_spec(json.loads(request["spec"]), stored=True)
        parts = {name: Part.from_message(part) for name, part in request["parts"].items()}
        names = tuple(request["feature_names"])
        categories = {name: list(values) for name, values in request["categories"].items()}
        self._training = ShardTraining(spec, parts, names, categories, self._invitation.threads)
        need = memory_need(spec, *self._training.datasets)
        return {"needed_bytes": need.total, "need": str(need), "available_bytes": available_memory_bytes()}

    def _sample(self, request: dict[str, Any]) -> dict[str, Any]:
        self._enter("sampling")
        return {"values": packed(self._shard.sample(unpacked(request["rows"])))}

    def _bins(self, request: dict[str, Any]) -> dict[str, Any]:
        self._enter("binning")

        def on_progress(done: int, total: int) -> None:
            self._progress = done, total

        self._shard.bin_features(request["edges"], on_progress)
        return {}

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        self._enter("connecting")
        addresses: dict[int, str] = {int(rank): address for rank, address in request["addresses"].items()}
        self._endpoint.run(self._run_or_exit(self._mesh.connect_all(addresses)))
        self._collectives = Collectives(self._rank, len(addresses), self._swap)
        scores = {name: unpacked(values) for name, values in request["scores"].items()}
        on_histograms = lambda: self._enter("histograms")  # noqa: E731
        self._shard.start(
            self._collectives, request["text"], scores, request["iterations_done"], on_histograms
        )
        self._began_at = time.monotonic()
        return {}

    def _swap(self, blocks: Mapping[int, bytes]) -> Mapping[int, bytes]:
        return self._endpoint.run(self._run_or_exit(self._mesh.swap(blocks)))

    async def _run_or_exit(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine with the other ranks; end the process if one of them is lost."""
        try:
            return await work
        except PeerLost as lost:
            with contextlib.suppress(OSError):
                await self._driver.send({"lost": lost.peer})
                await asyncio.sleep(0.1)  # until the loop has sent the message
            os._exit(PEER_LOST)

    def _grow(self, request: dict[str, Any]) -> dict[str, Any]:
        self._enter("gradients")
        grower = self._shard.grower
        has_grown = grower.grow()
        reply: dict[str, Any] = {"has_grown": has_grown, "is_exhausted": grower.is_exhausted, "values": {}}
        if has_grown and request["measures"]:
            return reply | self._measure(request)
        return reply | {"milliseconds": grower.stopwatch.lap()}

    def _measure(self, _: dict[str, Any]) -> dict[str, Any]:
        self._enter("metrics")
        values = {
            name: {metric: packed(values) for metric, values in by_metric.items()}
            for name, by_metric in self._shard.values().items()
        }
        return {"values": values, "milliseconds": self._shard.grower.stopwatch.lap()}

    def _state(self, _: dict[str, Any]) -> dict[str, Any]:
        text = self._shard.grower.state_text() if self._rank == 0 else ""
        return {
            "text": text,
            "scores": {name: packed(scores) for name, scores in self._shard.scores().items()},
        }

    def _model(self, request: dict[str, Any]) -> dict[str, Any]:
        self._enter("model")
        grower = self._shard.grower
        grower.finish()
        return {"text": grower.model_text(request["iterations"]) if self._rank == 0 else ""}

    def _leaf_counts(self, request: dict[str, Any]) -> dict[str, Any]:
        self._enter("leaf counts")
        return {"counts": packed(self._shard.leaf_counts(request["text"]))}

    def _inspect(self, request: dict[str, Any]) -> dict[str, Any]:
        grower = self._shard.grower
        match request["property"]:
            case "first_hessian_sum":
                return {"value": grower.first_hessian_sum()}
            case "has_gradient":
                return {"value": grower.has_gradient()}
            case _:
                return {"value": grower.decisive_bound()}

    @property
    def _shard(self) -> ShardTraining:
        if self._training is None:
            raise RuntimeError("nothing was loaded")
        return self._training


def main() -> None:
    """Read the invitation from the standard input and run the rank."""
    if len(sys.argv) > 1:
        die_with_parent(int(sys.argv[1]))
    # This does nothing if `capture_output` has installed the handler for JSON.
    logging.basicConfig(stream=sys.stderr)
    logging.getLogger().setLevel(logging.WARNING)
    invitation = read_as(Invitation, json.loads(sys.stdin.buffer.readline()))
    RankProcess(invitation).run()
