"""The Dockerfile and the compose file refer to existing files, commands and settings.

`make check-image` builds the image.
"""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rankery.cli.commands import PANELS
from tests.deploy.settings import settings_names
from tests.requirements import require_program
from tests.servers.dask import Certificates
from tests.servers.process import ServerProcess, free_port, tied
from worker.dask.cluster import cluster_client
from worker.dask.settings import DaskSettings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)


@pytest.mark.parametrize("text", [DOCKERFILE, COMPOSE_TEXT], ids=["Dockerfile", "docker-compose.yml"])
def test_every_environment_variable_is_read_by_a_process(text: str) -> None:
    """A misspelt variable would have no effect and cause no error."""
    named = set(re.findall(r"RANKERY_[A-Z_]+", text))
    assert named
    assert named <= settings_names()


def test_every_command_exists() -> None:
    """`rankery api`, `rankery worker` and `rankery rank-worker` are commands of the command line."""
    commands = {word for words in PANELS.values() for word in words}
    started = {COMPOSE["services"][service]["command"][0] for service in ("api", "worker", "rank-worker")}
    default = re.findall(r'^CMD \["(\w+)"\]', DOCKERFILE, re.MULTILINE)
    assert started | set(default) <= commands
    assert 'ENTRYPOINT ["rankery"]' in DOCKERFILE


def test_every_path_that_is_copied_exists() -> None:
    """Paths copied from the build context exist and are not excluded by .dockerignore."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [
        path
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for path in line.split()[:-1]
    ]
    assert {"app", "worker", "core", "rankery", "guide", "docs", "pyproject.toml"} <= set(copied)
    for path in copied:
        assert (ROOT / path).exists(), path
        assert path in allowed, path


def test_the_image_runs_without_privileges_and_has_health_checks() -> None:
    """The user is a number, as Kubernetes requires, and each process has a health check."""
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert "useradd --uid 10001 " in DOCKERFILE
    assert re.search(r'^HEALTHCHECK .* CMD \["rankery", "health", "api"\]$', DOCKERFILE, re.MULTILINE)
    assert COMPOSE["services"]["worker"]["healthcheck"]["test"] == ["CMD", "rankery", "health", "worker"]
    port = COMPOSE["x-rankery"]["environment"]["RANKERY_PORT"]
    assert f"EXPOSE {port}" in DOCKERFILE
    assert COMPOSE["services"]["api"]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_hadolint_reports_no_problems() -> None:
    """The Dockerfile and its shell commands parse, and follow the rules of the linter."""
    hadolint = Path(sys.executable).with_name("hadolint")
    linted = subprocess.run([hadolint, str(ROOT / "Dockerfile")], check=False, capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
def test_each_architecture_compiles_for_its_oldest_supported_processor(architecture: str) -> None:
    """A build stage for each architecture names the processor, so that kernels run on all its machines."""
    stage = re.search(
        rf"^FROM system AS system-{architecture}\n(?:#.*\n)?ENV (.+)$", DOCKERFILE, re.MULTILINE
    )
    assert stage is not None
    assert re.search(r"NUMBA_CPU_NAME=\S+ NUMBA_CPU_FEATURES=\"\"$", stage[1])
    assert len(re.findall(r"^FROM system-\$\{TARGETARCH\}", DOCKERFILE, re.MULTILINE)) == 2


def test_every_volume_is_declared_and_used() -> None:
    """Named volumes hold the data that outlives a container."""
    used = {
        mount.split(":")[0]
        for service in COMPOSE["services"].values()
        for mount in service.get("volumes", [])
        if not mount.startswith("${")
    }
    assert used == set(COMPOSE["volumes"])
    mounted = COMPOSE["x-rankery"]["volumes"][0].split(":")[1]
    assert mounted == COMPOSE["x-rankery"]["environment"]["RANKERY_DATA_DIR"]
    assert f"VOLUME {mounted}" in DOCKERFILE


def test_rank_workers_have_certificates_and_no_credentials() -> None:
    """Rank workers read artifacts; an intruder in one has no access to the database or the broker."""
    service = COMPOSE["services"]["rank-worker"]
    assert "RANKERY_DATABASE_URL" not in service["environment"]
    assert "RANKERY_BROKER_URL" not in service["environment"]
    data_dir = COMPOSE["x-rankery"]["environment"]["RANKERY_DATA_DIR"]
    assert f"rankery-data:{data_dir}:ro" in service["volumes"]
    worker = COMPOSE["services"]["worker"]["environment"]
    certificates = COMPOSE["x-dask-certificates"]
    assert certificates.items() <= service["environment"].items()
    assert certificates.items() <= worker.items()
    assert COMPOSE["x-rankery"]["environment"].items() <= worker.items()


def test_dask_accepts_the_options_of_the_scheduler(tmp_path: Path) -> None:
    """The scheduler starts with these options, accepts only TLS connections, and answers its health check."""
    service = COMPOSE["services"]["dask-scheduler"]
    certificates = Certificates.made(tmp_path / "certificates")
    port, health_port = free_port(), free_port()
    replaced = {"/etc/rankery/dask": str(certificates.folder), "8786": str(port), "8787": str(health_port)}

    def with_test_paths(word: str) -> str:
        return functools.reduce(lambda text, each: text.replace(*each), replaced.items(), word)

    program, *arguments = map(with_test_paths, service["entrypoint"])
    check = [sys.executable, *map(with_test_paths, service["healthcheck"]["test"][2:])]
    process = ServerProcess(
        tied([str(Path(sys.executable).with_name(program)), *arguments]),
        tmp_path / "scheduler.log",
        lambda: subprocess.run(check, check=False, capture_output=True).returncode == 0,
    )
    process.start()
    try:
        address = f"tls://127.0.0.1:{port}"
        with cluster_client(
            DaskSettings.model_validate({"dask_scheduler": address, **certificates.settings})
        ):
            pass
    finally:
        process.kill()


@pytest.mark.parametrize("profile", [[], ["--profile", "distributed"]], ids=["plain", "distributed"])
def test_docker_compose_accepts_the_file(profile: list[str]) -> None:
    """`docker-compose config` resolves the file, and fails without passwords."""
    compose = require_program("docker-compose", "docker-compose")
    command = [compose, "--file", str(ROOT / "docker-compose.yml"), *profile, "config", "--quiet"]
    passwords = {"POSTGRES_PASSWORD": "p", "REDIS_PASSWORD": "r"}
    bare = {name: value for name, value in os.environ.items() if name not in passwords}
    subprocess.run(command, env={**bare, **passwords}, check=True, capture_output=True)
    refused = subprocess.run(command, env=bare, check=False, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "set POSTGRES_PASSWORD" in refused.stderr
