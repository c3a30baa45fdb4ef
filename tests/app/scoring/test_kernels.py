"""The API while its kernels are compiled."""

from pathlib import Path

import pytest

from tests.compiling import run_program

PROGRAM = """
import os, pathlib, psutil, sys, warnings
os.environ["NUMBA_CACHE_DIR"] = sys.argv[1] + "/kernels"
warnings.simplefilter("ignore")
from app import ApiSettings, create_app
from starlette.testclient import TestClient

settings = ApiSettings(data_dir=pathlib.Path(sys.argv[1]), broker_url="redis://127.0.0.1:1/0")
request = {"queries": [{"id": "q", "documents": [{"id": "d", "features": [1]}]}]}
with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
    assert client.get("/healthz").status_code == 200
    assert client.get("/v1/jobs").status_code == 200
    ready = client.get("/readyz?for=scoring")
    print(ready.status_code, ready.json()["detail"])
    refused = client.post("/v1/models/web/rank", json=request)
    print(refused.status_code, refused.json()["type"], refused.headers["retry-after"])
    protocol = client.get("/v2/health/ready")
    print(protocol.status_code)
print(len(psutil.Process().children()))
without = settings.model_copy(update={"compile_ahead": False})
with TestClient(create_app(without), base_url="http://127.0.0.1") as client:
    print(client.get("/readyz?for=scoring").json()["detail"])
"""


@pytest.mark.long
def test_requests_are_refused_until_the_kernels_are_compiled(tmp_path: Path) -> None:
    """Other requests work immediately, readiness shows the progress, and a stop leaves no compiler.

    Without compilation ahead, kernels of networks are compiled by the first request for a network.
    """
    assert run_program(PROGRAM, tmp_path).splitlines()[-5:] == [
        "503 the kernels are being compiled: 0 of 3 parts",
        "503 /problems/kernels-not-ready 5",
        "503",
        "0",
        "the kernels are being compiled: 0 of 2 parts",
    ]
