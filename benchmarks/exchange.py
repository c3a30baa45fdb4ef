"""Milliseconds of an exchange between ranks on this machine, over the connections that trainings use.

Processes connect like ranks, and swap blocks of several sizes. Each also copies and adds the received blocks,
as LightGBM does with histograms.
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.subprocesses import module_command, module_environment
from worker.ranks.connections import Endpoint, Mesh
from worker.ranks.identity import Identity

_MODULE = "benchmarks.exchange"
_SIZES = (256, 2**16, 2**18, 2**20)  # bytes of a block
_ROUNDS = 200
_MAX_RANKS = 5


@dataclass(frozen=True)
class Exchange:
    """The cost of an exchange.

    Attributes:
        round_seconds: Fixed time of an exchange between two ranks.
        peer_seconds: Processor time for each further rank.
        byte_seconds: Time for each byte that a rank sends: encryption, copies and sums.
    """

    round_seconds: float
    peer_seconds: float
    byte_seconds: float


def measure() -> Exchange:
    """Measure exchanges of 2 to 5 ranks on this machine."""
    of_two = _time_swaps(2, _SIZES)
    byte_seconds, round_seconds = np.polyfit(_SIZES, [wall for wall, _ in of_two], 1)
    numbers = range(2, _MAX_RANKS + 1)
    # Ranks share the processors here, so their processor time is the better measure.
    busy = [_time_swaps(number, _SIZES[:1])[0][1] for number in numbers]
    return Exchange(float(round_seconds), float(np.polyfit(list(numbers), busy, 1)[0]), float(byte_seconds))


def _time_swaps(n_ranks: int, sizes: tuple[int, ...]) -> list[tuple[float, float]]:
    """Return for each size the wall time and processor time in seconds of a swap by the slowest rank."""
    identity = Identity.new("benchmark", 1)
    ranks = [
        subprocess.Popen(
            module_command(_MODULE),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=module_environment(),
        )
        for _ in range(n_ranks)
    ]
    for number, rank in enumerate(ranks):
        _send(rank, {"identity": asdict(identity), "rank": number})
    addresses = {number: _receive(rank) for number, rank in enumerate(ranks)}
    for rank in ranks:
        _send(rank, {"addresses": addresses, "sizes": sizes})
    answers = [_receive(rank) for rank in ranks]
    for rank in ranks:
        rank.communicate("end\n")
    return [
        (max(each[index][0] for each in answers), max(each[index][1] for each in answers))
        for index in range(len(sizes))
    ]


def _send(rank: "subprocess.Popen[str]", message: Any) -> None:
    assert rank.stdin is not None
    rank.stdin.write(json.dumps(message) + "\n")
    rank.stdin.flush()


def _receive(rank: "subprocess.Popen[str]") -> Any:
    assert rank.stdout is not None
    return json.loads(rank.stdout.readline())


def _run_rank() -> None:
    setup = json.loads(sys.stdin.readline())
    endpoint = Endpoint(Identity(**setup["identity"]), setup["rank"])
    mesh = Mesh(endpoint, setup["rank"])
    print(json.dumps(endpoint.listen("127.0.0.1", mesh.accept)), flush=True)
    order = json.loads(sys.stdin.readline())
    addresses = {int(rank): address for rank, address in order["addresses"].items()}
    endpoint.run(mesh.connect_all(addresses))
    others = [rank for rank in addresses if rank != setup["rank"]]
    times = []
    for size in order["sizes"]:
        own = np.zeros(size // 8)
        for is_timed in (False, True):
            began, busy = time.perf_counter(), time.process_time()
            for _ in range(_ROUNDS if is_timed else _ROUNDS // 10):
                for block in endpoint.run(mesh.swap({other: own.tobytes() for other in others})).values():
                    own += np.frombuffer(block)
        times.append(((time.perf_counter() - began) / _ROUNDS, (time.process_time() - busy) / _ROUNDS))
    print(json.dumps(times), flush=True)
    sys.stdin.readline()
    endpoint.close()


if __name__ == "__main__":
    _run_rank()
