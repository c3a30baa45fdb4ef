"""The Helm chart, rendered by Helm's library, yields valid Kubernetes manifests and existing settings."""

import re
from pathlib import Path
from typing import Any

import helm_python
import pytest
import yaml
from fastapi.routing import APIRoute
from kubernetes_validate import validate
from kubernetes_validate.utils import all_versions

from app import ApiSettings, create_app
from rankery import __version__
from rankery.processes import IMPORT_CREDENTIALS, WITHHELD_VARIABLES
from tests.deploy.settings import settings_names
from tests.rankery.cli.commands import run

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm"
Manifest = dict[str, Any]

STORAGE = {"url": "s3://rankery/artifacts"}
MINIMAL: Manifest = {"storage": STORAGE}
EVERYTHING: Manifest = {
    "image": {"repository": "registry.example.org/rankery", "tag": "1.2.3"},
    "imagePullSecrets": [{"name": "registry"}],
    "storage": {**STORAGE, "secret": "bucket", "region": "eu-central-1", "endpoint": "http://minio:9000"},
    "environment": [{"name": "TZ", "value": "UTC"}],
    "settings": {"RANKERY_DATA_ROOTS": "/corpora"},
    "volumes": [{"name": "corpora", "persistentVolumeClaim": {"claimName": "corpora", "readOnly": True}}],
    "volumeMounts": [{"name": "corpora", "mountPath": "/corpora", "readOnly": True}],
    "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/rankery"}},
    "api": {"autoscaling": {"enabled": True}, "podAnnotations": {"a": "b"}, "nodeSelector": {"disk": "fast"}},
    "worker": {
        "autoscaling": {"enabled": True},
        "tolerations": [{"key": "training", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
        "scratch": {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "64Gi"}}}
                }
            }
        },
    },
    "service": {"annotations": {"a": "b"}},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a": "b"}},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {"enabled": True, "callers": [{"namespaceSelector": {}}]},
    "distributed": {"enabled": True, "secret": "certificates"},
    "daskScheduler": {"podAnnotations": {"a": "b"}, "nodeSelector": {"disk": "fast"}},
    "rankWorker": {
        "replicas": 4,
        "bucketSecret": "corpora",
        "tolerations": [{"key": "training", "operator": "Exists"}],
    },
}
# These components connect neither to the database nor to the broker.
_DISTRIBUTED = ("dask-scheduler", "rank-worker")
CASES = pytest.mark.parametrize("values", [MINIMAL, EVERYTHING], ids=["minimal", "everything"])


def rendered_manifests(values: Manifest) -> dict[str, Manifest]:
    """Return the manifests that Helm renders, by kind and name."""
    with helm_python.Chart.load(CHART) as chart:
        files = chart.render(values, name="ltr", namespace="search")
    documents = [
        document
        for name, text in files.items()
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        if document is not None
    ]
    return {f"{document['kind']}/{document['metadata']['name']}": document for document in documents}


def containers(manifests: dict[str, Manifest]) -> list[Manifest]:
    """Return the containers of all deployments."""
    return [
        container
        for name, manifest in manifests.items()
        if name.startswith("Deployment/")
        for container in manifest["spec"]["template"]["spec"]["containers"]
    ]


@CASES
def test_helm_lint_finds_nothing(values: Manifest) -> None:
    """`helm lint --strict` finds no problem; the recommended icon is not a finding."""
    report = helm_python.lint(CHART, values, strict=True)
    assert report["errors"] == []
    assert [found for found in report["messages"] if found["severity"] > 1] == []


@CASES
@pytest.mark.parametrize("version", [all_versions()[0], all_versions()[-1]])
def test_kubernetes_accepts_every_manifest(values: Manifest, version: str) -> None:
    """Each manifest matches the schema of its kind in the oldest and newest version, without other fields."""
    for manifest in rendered_manifests(values).values():
        if not manifest["apiVersion"].startswith(
            "monitoring.coreos.com/"
        ):  # a resource of the Prometheus operator
            validate(manifest, version, strict=True)


def test_a_value_that_is_missing_is_named() -> None:
    """Without a bucket, rendering fails with the name of the missing value."""
    with pytest.raises(helm_python.HelmError, match=r"storage\.url is missing"):
        rendered_manifests({})


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"workers": {"replicas": 2}}, "workers"),
        ({"worker": {"replica": 2}}, "replica"),
        ({"api": {"replicas": "two"}}, "/api/replicas"),
        ({"settings": {"THREADS": "2"}}, "THREADS"),
        ({"rankWorker": {"autoscaling": {}}}, "autoscaling"),
        ({"distributed": {"secret": ""}}, "/distributed/secret"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(wrong: Manifest, named: str) -> None:
    """A misspelt value would have no effect and cause no error."""
    with pytest.raises(helm_python.HelmError, match=named), helm_python.Chart.load(CHART) as chart:
        chart.validate_schema({**MINIMAL, **wrong})


@CASES
def test_every_environment_variable_is_read_by_a_process(values: Manifest) -> None:
    """A misspelt variable would have no effect and cause no error."""
    for container in containers(rendered_manifests(values)):
        named = {entry["name"] for entry in container.get("env", ())}
        assert {name for name in named if name.startswith("RANKERY_")} <= settings_names()
        if container["name"] not in _DISTRIBUTED:
            assert {"RANKERY_DATABASE_URL", "RANKERY_BROKER_URL", "RANKERY_STORAGE_URL"} <= named


@CASES
def test_no_secret_is_part_of_a_manifest(values: Manifest) -> None:
    """URLs with passwords come from secrets that the chart neither creates nor reads."""
    manifests = rendered_manifests(values)
    assert not any(name.startswith("Secret/") for name in manifests)
    for container in containers(manifests):
        if container["name"] in _DISTRIBUTED:
            continue
        entries = {entry["name"]: entry for entry in container["env"]}
        for name in ("RANKERY_DATABASE_URL", "RANKERY_BROKER_URL"):
            assert set(entries[name]) == {"name", "valueFrom"}


@CASES
def test_containers_run_without_privileges(values: Manifest) -> None:
    """Containers run as a user other than root, with a read-only root file system and no capabilities."""
    manifests = rendered_manifests(values)
    deployments = [manifest for name, manifest in manifests.items() if name.startswith("Deployment/")]
    assert len(deployments) == (4 if "distributed" in values else 2)
    for deployment in deployments:
        pod = deployment["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert f"USER {pod['securityContext']['runAsUser']}:" in (ROOT / "Dockerfile").read_text()
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}


def test_probes_request_paths_that_the_api_serves() -> None:
    """The readiness probe checks scoring only; the startup probe checks every component."""
    (api,) = rendered_manifests(MINIMAL)["Deployment/ltr-rankery-api"]["spec"]["template"]["spec"][
        "containers"
    ]
    probes = {kind: api[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert probes == {"startup": "/readyz", "readiness": "/readyz?for=scoring", "liveness": "/healthz"}
    routes = {route.path: route for route in create_app(ApiSettings()).routes if isinstance(route, APIRoute)}
    assert {path.partition("?")[0] for path in probes.values()} <= set(routes)
    assert [parameter.alias for parameter in routes["/readyz"].dependant.query_params] == ["for"]


def test_probes_of_a_worker_are_commands_that_exist() -> None:
    """The liveness probe succeeds while the processes run, even if a server is unavailable."""
    (worker,) = rendered_manifests(MINIMAL)["Deployment/ltr-rankery-worker"]["spec"]["template"]["spec"][
        "containers"
    ]
    probes = {kind: worker[f"{kind}Probe"]["exec"] for kind in ("startup", "readiness", "liveness")}
    ready = ["rankery", "health", "worker"]
    alive = {"command": [*ready, "--live"]}
    assert probes == {"startup": alive, "readiness": {"command": ready}, "liveness": alive}
    done = run(*alive["command"][1:], "--data-dir", "/nowhere")
    assert done.sentence == "no worker of the lane training runs on this machine with /nowhere"


def test_selectors_find_the_pods() -> None:
    """A service, a budget and a monitor select the labels that the pods have."""
    manifests = rendered_manifests(EVERYTHING)
    for component in ("api", "worker"):
        deployment = manifests[f"Deployment/ltr-rankery-{component}"]
        labels = deployment["spec"]["template"]["metadata"]["labels"].items()
        assert deployment["spec"]["selector"]["matchLabels"].items() <= labels
        budget = manifests[f"PodDisruptionBudget/ltr-rankery-{component}"]
        assert budget["spec"]["selector"]["matchLabels"].items() <= labels
        scaler = manifests[f"HorizontalPodAutoscaler/ltr-rankery-{component}"]
        assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
        assert "replicas" not in deployment["spec"]
    service = manifests["Service/ltr-rankery-api"]
    pod = manifests["Deployment/ltr-rankery-api"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= pod.items()
    monitor = manifests["ServiceMonitor/ltr-rankery"]["spec"]["selector"]["matchLabels"]
    assert monitor.items() <= service["metadata"]["labels"].items()


def test_the_service_answers_to_its_names_in_the_cluster() -> None:
    """Requests for other hosts are refused, so the chart allows the hosts of the service and the ingress."""
    (api,) = rendered_manifests(EVERYTHING)["Deployment/ltr-rankery-api"]["spec"]["template"]["spec"][
        "containers"
    ]
    hosts = next(entry["value"] for entry in api["env"] if entry["name"] == "RANKERY_ALLOWED_HOSTS")
    assert hosts.split(",") == [
        "ltr-rankery-api",
        "ltr-rankery-api.search",
        "ltr-rankery-api.search.svc",
        "ltr-rankery-api.search.svc.cluster.local",
        "ltr.example.org",
    ]


def test_distributed_trainings_are_off_by_default() -> None:
    """Without a Dask cluster, no manifest refers to Dask."""
    text = yaml.safe_dump(rendered_manifests(MINIMAL))
    assert "dask" not in text.lower()


def test_workers_reach_the_dask_scheduler_with_certificates() -> None:
    """Workers and rank workers connect to the scheduler with the files of the secret; the API does not."""
    manifests = rendered_manifests(EVERYTHING)
    (port,) = manifests["Service/ltr-rankery-scheduler"]["spec"]["ports"]
    address = f"tls://ltr-rankery-scheduler:{port['port']}"
    for name in ("worker", "rank-worker", "scheduler", "api"):
        pod = manifests[f"Deployment/ltr-rankery-{name}"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        variables = {entry["name"]: entry.get("value") for entry in container.get("env", ())}
        mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
        assert ("/etc/rankery/dask" in mounts) == (name != "api")
        assert variables.get("RANKERY_DASK_SCHEDULER") == (address if name.endswith("worker") else None)
        sources = {volume["name"]: volume.get("secret") for volume in pod["volumes"]}
        wanted = {"secretName": "certificates", "defaultMode": 0o440}
        assert sources.get("dask-certificates") == (None if name == "api" else wanted)
    service = manifests["Service/ltr-rankery-scheduler"]
    labels = manifests["Deployment/ltr-rankery-scheduler"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_network_policies_admit_only_the_components_that_connect() -> None:
    """A policy admits the pods that connect to a component, and the API's callers; it is off by default."""
    assert not [name for name in rendered_manifests(MINIMAL) if name.startswith("NetworkPolicy/")]
    manifests = rendered_manifests(EVERYTHING)
    admitted = {
        "worker": ["rank-worker"],
        "dask-scheduler": ["worker", "rank-worker"],
        "rank-worker": ["dask-scheduler", "rank-worker"],
    }
    deployments = {"dask-scheduler": "scheduler"}
    for component, peers in admitted.items():
        policy = manifests[f"NetworkPolicy/ltr-rankery-{component}"]["spec"]
        pods = manifests[f"Deployment/ltr-rankery-{deployments.get(component, component)}"]
        labels = pods["spec"]["template"]["metadata"]["labels"]
        assert policy["podSelector"]["matchLabels"].items() <= labels.items()
        (rule,) = policy["ingress"]
        selected = [
            peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] for peer in rule["from"]
        ]
        assert selected == peers
    (rule,) = manifests["NetworkPolicy/ltr-rankery-api"]["spec"]["ingress"]
    assert rule == {"ports": [{"port": "http"}], "from": [{"namespaceSelector": {}}]}
    alone = rendered_manifests({**MINIMAL, "networkPolicy": {"enabled": True}})
    assert alone["NetworkPolicy/ltr-rankery-worker"]["spec"]["ingress"] == []
    assert alone["NetworkPolicy/ltr-rankery-api"]["spec"]["ingress"] == [{"ports": [{"port": "http"}]}]


def test_rank_workers_have_no_credentials_of_the_service() -> None:
    """Rank workers have no credentials of the database, of the broker, or to write artifacts."""
    manifests = rendered_manifests(EVERYTHING)
    for name in ("rank-worker", "scheduler"):
        (container,) = manifests[f"Deployment/ltr-rankery-{name}"]["spec"]["template"]["spec"]["containers"]
        text = yaml.safe_dump(container)
        for secret in ("rankery-database", "rankery-broker", "bucket", "RANKERY_STORAGE_URL"):
            assert secret not in text
    (worker,) = manifests["Deployment/ltr-rankery-rank-worker"]["spec"]["template"]["spec"]["containers"]
    assert worker["envFrom"] == [{"secretRef": {"name": "corpora"}}]


def test_rank_workers_have_no_credentials_among_their_variables() -> None:
    """The manifest of a rank worker omits variables that it would remove; other manifests keep them."""
    secret = {"valueFrom": {"secretKeyRef": {"name": "keys", "key": "keys"}}}
    withheld = (*WITHHELD_VARIABLES, f"{IMPORT_CREDENTIALS}WAREHOUSE")
    first, *others = withheld
    values = {
        **EVERYTHING,
        "settings": {"RANKERY_THREADS": "2", first: "secret"},
        "environment": [{"name": "TZ", "value": "UTC"}, *({"name": name, **secret} for name in others)],
    }
    for container in containers(rendered_manifests(values)):
        names = {entry["name"] for entry in container.get("env", ())}
        if container["name"] == "rank-worker":
            assert {"RANKERY_THREADS", "TZ"} <= names
            assert names.isdisjoint(withheld)
        elif container["name"] != "dask-scheduler":
            assert names >= {"RANKERY_THREADS", "TZ", *withheld}


def test_the_scheduler_is_started_as_by_compose() -> None:
    """Chart and compose file have the same command; a test of the compose file starts the scheduler."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    (container,) = rendered_manifests(EVERYTHING)["Deployment/ltr-rankery-scheduler"]["spec"]["template"][
        "spec"
    ]["containers"]
    service = compose["services"]["dask-scheduler"]
    assert container["command"] == service["entrypoint"]
    assert container["livenessProbe"]["exec"]["command"] == service["healthcheck"]["test"][1:]


@pytest.mark.parametrize(("path", "root_path"), [("/", None), ("/rankery", "/rankery")])
def test_the_ingress_may_have_a_path(path: str, root_path: str | None) -> None:
    """`RANKERY_ROOT_PATH` is the path of the ingress."""
    manifests = rendered_manifests({**MINIMAL, "ingress": {"enabled": True, "path": path}})
    (rule,) = manifests["Ingress/ltr-rankery"]["spec"]["rules"]
    assert rule["http"]["paths"][0]["path"] == path
    (api,) = manifests["Deployment/ltr-rankery-api"]["spec"]["template"]["spec"]["containers"]
    variables = {entry["name"]: entry.get("value") for entry in api["env"]}
    assert variables.get("RANKERY_ROOT_PATH") == root_path


def test_settings_stay_as_they_are_written() -> None:
    """Whole numbers have no exponent, since processes do not accept one in a number of bytes."""
    written = {
        "RANKERY_MAX_UPLOAD_BYTES": ("34359738368", "34359738368"),
        "RANKERY_THREADS": ("2", "2"),
        "RANKERY_CANCEL_GRACE_SECONDS": ("0.6", "0.6"),
        "RANKERY_LOG_LEVEL": ("debug", "debug"),
        "RANKERY_ATTEMPTS": ('"3"', "3"),
    }
    lines = "".join(f"  {name}: {value}\n" for name, (value, _) in written.items())
    values = helm_python.values_from_yaml(f"settings:\n{lines}")
    for container in containers(rendered_manifests({**MINIMAL, **values, "distributed": {"enabled": True}})):
        if container["name"] == "dask-scheduler":
            continue
        variables = {entry["name"]: entry.get("value") for entry in container["env"]}
        assert {name: variables[name] for name in written} == {
            name: read for name, (_, read) in written.items()
        }


def test_the_chart_is_of_this_version() -> None:
    """The image's tag defaults to the chart's version of the application."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__


def test_every_value_is_used() -> None:
    """A value that no template reads would have no effect and cause no error."""
    templates = "".join(path.read_text() for path in (CHART / "templates").iterdir())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    for name, value in values.items():
        for inner in value if isinstance(value, dict) and name not in ("settings",) else ():
            used = re.search(rf"\.{inner}\b", templates) or f"toYaml .root.Values.{name} " in templates
            assert used, f"{name}.{inner}"
        assert re.search(rf"Values\.{name}\b", templates), name
