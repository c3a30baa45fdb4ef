"""The OpenAPI document and its use by code generators."""

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import TypeAdapter

from app.auth.schemas import AuditEntry, Key, KeyRequest, NewKey
from app.datasets.browsing_schemas import Corpus
from app.datasets.folders import FolderDatasetRequest
from app.datasets.schemas import Dataset
from app.datasets.synthetic import SyntheticDatasetRequest
from app.evaluation.schemas import Evaluation
from app.http.openapi_components import compact
from app.http.problems import MEDIA_TYPE
from app.jobs.requests import JobRequest
from app.jobs.requests.examples import REQUEST_EXAMPLES
from app.jobs.requests.training import TrainRequest
from app.jobs.schemas import Job
from app.jobs.submission.training import training_values
from app.models.alias_schemas import Alias, AliasMove, AliasRequest, Gate, GateRequest
from app.models.export_schemas import ExportRequest, ParityRequest
from app.models.inspection_schemas import Inspection, ModelTree
from app.models.schemas import ListedModel, Model, ModelChanges
from app.scoring.schemas import RankRequest
from app.uploads.routes import Upload
from core.losses import LOSSES
from core.training import training_spec
from tests.app.conftest import TestClient

pytestmark = pytest.mark.embedded

PATHS = {
    "/v1/datasets": {"get", "post"},
    "/v1/datasets/delete": {"post"},
    "/v1/datasets/synthetic": {"post"},
    "/v1/datasets/folders": {"get", "post"},
    "/v1/datasets/{dataset_id}": {"get", "patch", "delete"},
    "/v1/click-logs": {"get", "post"},
    "/v1/click-logs/served": {"post"},
    "/v1/click-logs/interleaved": {"post"},
    "/v1/served-rankings/events": {"post"},
    "/v1/click-logs/{log_id}": {"get", "patch", "delete"},
    "/v1/datasets/{dataset_id}/features": {"get"},
    "/v1/datasets/{dataset_id}/corpus": {"get"},
    "/v1/datasets/{dataset_id}/queries": {"get"},
    "/v1/datasets/{dataset_id}/queries/{query_id}": {"get"},
    "/v1/datasets/{dataset_id}/qrels": {"get"},
    "/v1/datasets/{dataset_id}/download": {"get"},
    "/v1/uploads": {"get", "options", "post"},
    "/v1/uploads/{upload_id}": {"head", "patch", "delete"},
    "/v1/workers": {"get"},
    "/v1/counts": {"get"},
    "/v1/projects": {"get"},
    "/v1/search": {"get"},
    "/v1/settings": {"get"},
    "/v1/aliases": {"get"},
    "/v1/job-schemas": {"get"},
    "/v1/jobs": {"get", "post"},
    "/v1/jobs/batch": {"post"},
    "/v1/datasets/{dataset_id}/read-again": {"post"},
    "/v1/trainings": {"get"},
    "/v1/jobs/cancel": {"post"},
    "/v1/jobs/histories": {"get"},
    "/v1/jobs/{job_id}": {"get", "patch", "delete"},
    "/v1/jobs/delete": {"post"},
    "/v1/experiments/delete": {"post"},
    "/v1/studies/delete": {"post"},
    "/v1/jobs/labels": {"post"},
    "/v1/jobs/{job_id}/candidates": {"get"},
    "/v1/jobs/{job_id}/history": {"get"},
    "/v1/jobs/{job_id}/cancel": {"post"},
    "/v1/models": {"get", "post"},
    "/v1/model-names": {"get"},
    "/v1/models/tags": {"post"},
    "/v1/models/{ref}": {"get", "patch", "delete"},
    "/v1/models/delete": {"post"},
    "/v1/models/labels": {"post"},
    "/v1/trash": {"get"},
    "/v1/trash/restore": {"post"},
    "/v1/trash/empty": {"post"},
    "/v1/storage": {"get"},
    "/v1/models/{name}/aliases": {"get"},
    "/v1/models/{name}/aliases/{alias}": {"get", "put", "delete"},
    "/v1/models/{name}/aliases/{alias}/history": {"get"},
    "/v1/models/{name}/aliases/{alias}/rollback": {"post"},
    "/v1/models/{name}/aliases/{alias}/gate": {"get", "put", "delete"},
    "/v1/models/{ref}/rank": {"post"},
    "/v1/models/{ref}/export": {"get", "post"},
    "/v1/models/{ref}/export/archive": {"get", "post"},
    "/v1/models/{ref}/export/parity": {"get", "post"},
    "/v1/models/{ref}/reproduce": {"post"},
    "/v1/models/{ref}/distil": {"post"},
    "/v1/models/{ref}/importance": {"get"},
    "/v1/models/{ref}/inspections": {"get"},
    "/v1/models/{ref}/trees/{index}": {"get"},
    "/v1/inspections/{inspection_id}": {"get", "delete"},
    "/v1/inspections/delete": {"post"},
    "/v1/evaluations": {"get"},
    "/v1/evaluations/metrics": {"get"},
    "/v1/evaluations/{evaluation_id}": {"get", "delete"},
    "/v1/evaluations/delete": {"post"},
    "/v1/evaluations/{evaluation_id}/queries": {"get"},
    "/v1/comparisons": {"get"},
    "/v1/comparisons/{comparison_id}": {"get", "delete"},
    "/v1/comparisons/delete": {"post"},
    "/v1/comparisons/{comparison_id}/queries": {"get"},
    "/v1/comparisons/{comparison_id}/differences": {"get"},
    "/v1/comparisons/{comparison_id}/rankings": {"get"},
    "/v1/rankings": {"get", "post"},
    "/v1/rankings/{ranking_id}": {"get", "delete"},
    "/v1/rankings/delete": {"post"},
    "/v1/papers": {"get"},
    "/v1/papers/{name}": {"get"},
    "/v1/studies": {"get", "post"},
    "/v1/studies/{study_id}": {"get", "patch", "delete"},
    "/v1/studies/{study_id}/trials": {"get", "post"},
    "/v1/studies/{study_id}/pause": {"post"},
    "/v1/studies/{study_id}/resume": {"post"},
    "/v1/studies/{study_id}/cancel": {"post"},
    "/v1/studies/{study_id}/clone": {"post"},
    "/v1/studies/{study_id}/importance": {"get"},
    "/v1/experiments": {"get", "post"},
    "/v1/experiments/{experiment_id}": {"get", "delete"},
    "/v1/experiments/{experiment_id}/trainings": {"get"},
    "/v1/experiments/{experiment_id}/report": {"get"},
    "/v1/experiments/{experiment_id}/cancel": {"post"},
    "/v1/experiments/{experiment_id}/resume": {"post"},
    "/v1/schedules": {"get", "post"},
    "/v1/schedules/due-times": {"get"},
    "/v1/schedules/{schedule_id}": {"get", "patch", "delete"},
    "/v1/schedules/{schedule_id}/run": {"post"},
    "/v1/schedules/{schedule_id}/runs": {"get"},
    "/v1/interleavings": {"get", "post"},
    "/v1/interleavings/{interleaving_id}": {"get", "delete"},
    "/v1/interleavings/{interleaving_id}/lists": {"post"},
    "/v1/interleavings/{interleaving_id}/events": {"post"},
    "/v1/interleavings/{interleaving_id}/verdict": {"get"},
    "/v1/drift-reports": {"get"},
    "/v1/drift-reports/{report_id}": {"get", "delete"},
    "/v1/losses": {"get"},
    "/v1/scorers": {"get"},
    "/v1/metrics": {"get"},
    "/v1/export-formats": {"get"},
    "/v1/keys": {"get", "post"},
    "/v1/keys/{key_id}": {"delete"},
    "/v1/audit": {"get"},
    "/v1/events": {"get"},
    "/v1/webhooks": {"get", "post"},
    "/v1/webhooks/{webhook_id}": {"get", "patch", "delete"},
    "/v1/webhooks/{webhook_id}/rotate": {"post"},
    "/v1/webhooks/{webhook_id}/test": {"post"},
    "/v1/webhooks/{webhook_id}/deliveries": {"get"},
    "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {"post"},
    "/v2": {"get"},
    "/v2/health/live": {"get"},
    "/v2/health/ready": {"get"},
    "/v2/models/{name}": {"get"},
    "/v2/models/{name}/ready": {"get"},
    "/v2/models/{name}/infer": {"post"},
    "/v2/models/{name}/versions/{version}": {"get"},
    "/v2/models/{name}/versions/{version}/ready": {"get"},
    "/v2/models/{name}/versions/{version}/infer": {"post"},
    "/healthz": {"get"},
    "/readyz": {"get"},
}
# Bytes of the document as it is sent, before compression. A new operation or job kind may raise it.
MAX_BYTES = 505_000
CREATING = (
    "upload_dataset",
    "upload_click_log",
    "create_synthetic_dataset",
    "create_folder_datasets",
    "create_interleaving",
    "create_job",
    "create_jobs",
    "upload_run",
    "import_model",
    "reproduce_model",
    "distil_model",
    "make_served_log",
    "make_interleaved_log",
    "read_again",
    "create_experiment",
    "create_schedule",
    "run_schedule",
    "create_study",
    "create_upload",
    "add_trial",
    "clone_study",
)
# Creates nothing, but has another effect if it is repeated.
NOT_IDEMPOTENT = ("roll_back_alias",)


@pytest.fixture(scope="module")
def operations(openapi_document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every operation by its id."""
    return {
        operation["operationId"]: {"path": path, **operation}
        for path, methods in openapi_document["paths"].items()
        for operation in methods.values()
    }


def test_the_paths_are_the_public_ones(openapi_document: dict[str, Any]) -> None:
    """No path is added or removed by accident; pages of the dashboard are not part of the API."""
    assert {path: set(methods) for path, methods in openapi_document["paths"].items()} == PATHS


def test_operations_are_named_and_described(operations: dict[str, dict[str, Any]]) -> None:
    """Ids are function names, which generated clients turn into methods; summaries are short."""
    assert len(operations) == sum(map(len, PATHS.values()))
    for name, operation in operations.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)
        assert 5 < len(operation["summary"]) < 50
        assert operation["description"].endswith(".")
        assert operation["tags"]


def test_request_bodies_have_examples(operations: dict[str, dict[str, Any]]) -> None:
    """Every body that is not binary has an example."""
    bodies = [operation["requestBody"] for operation in operations.values() if "requestBody" in operation]
    assert len(bodies) == 54
    for body in bodies:
        # A binary body has no readable example.
        texts = [
            content for content in body["content"].values() if content["schema"].get("format") != "binary"
        ]
        assert body["required"]
        assert texts
        assert all(content.get("examples") or content.get("example") for content in texts)


def test_problems_are_documented(
    operations: dict[str, dict[str, Any]], openapi_document: dict[str, Any]
) -> None:
    """Every error response is a problem, with examples of the same status."""
    reference = {"$ref": "#/components/schemas/Problem"}
    for name, operation in operations.items():
        if operation["path"].startswith("/v2"):
            continue
        errors = {int(status): r for status, r in operation["responses"].items() if int(status) >= 400}
        assert 503 in errors or name == "healthz"
        assert 404 in errors or "{" not in operation["path"]
        assert 422 in errors or "requestBody" not in operation
        for status, response in errors.items():
            content = response["content"][MEDIA_TYPE]
            assert list(response["content"]) == [MEDIA_TYPE]
            assert content["schema"] == reference
            examples = [one["value"] for one in content.get("examples", {}).values()]
            assert {one["status"] for one in examples or [content["example"]]} == {status}
    assert "HTTPValidationError" not in openapi_document["components"]["schemas"]


def test_errors_of_the_inference_protocol_have_its_format(operations: dict[str, dict[str, Any]]) -> None:
    """Errors of a model have the format of the protocol; responses of the rate limiter are problems."""
    inference = [operation for operation in operations.values() if operation["path"].startswith("/v2/models")]
    for operation in inference:
        for status in {"404", "503"} | ({"400", "413"} if "requestBody" in operation else set()):
            schema = operation["responses"][status]["content"]["application/json"]["schema"]
            assert list(schema["properties"]) == ["error"]
        assert MEDIA_TYPE in operation["responses"]["429"]["content"]
    assert len(inference) == 6


def test_polled_operations_document_304(operations: dict[str, dict[str, Any]]) -> None:
    """Every operation that gets or lists objects below /v1 is conditional."""
    polled = [
        name
        for name, operation in operations.items()
        if re.match("(get|list)_", name) and operation["path"].startswith("/v1")
    ]
    assert len(polled) == 76
    assert all("304" in operations[name]["responses"] for name in polled)


def test_creating_operations_take_an_idempotency_key(operations: dict[str, dict[str, Any]]) -> None:
    """The header is documented for the operations of `CREATING` and `NOT_IDEMPOTENT`, and for no other."""
    taking = [
        name
        for name, operation in operations.items()
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", []))
    ]
    assert sorted(taking) == sorted((*CREATING, *NOT_IDEMPOTENT))
    assert all({"201", "202"} & operations[name]["responses"].keys() for name in CREATING)


def test_losses_are_a_union_discriminated_by_name(openapi_document: dict[str, Any]) -> None:
    """Each loss of the registry has a separate schema with its limits."""
    schemas = openapi_document["components"]["schemas"]
    mapping = schemas["TrainRequest"]["properties"]["loss"]["anyOf"][0]["discriminator"]["mapping"]
    assert set(mapping) == set(LOSSES)
    sigma = schemas[mapping["lambdarank"].rpartition("/")[2]]["properties"]["sigma"]
    assert (sigma["exclusiveMinimum"], sigma["default"]) == (0.0, 1.0)
    assert sigma["description"]


@pytest.mark.long
def test_the_compact_document_is_served_and_small(
    client: TestClient, openapi_document: dict[str, Any]
) -> None:
    """The compact document is limited in size, so that repeated texts do not make it grow."""
    answer = client.get("/openapi.json")
    assert answer.json() == compact(openapi_document)
    size = len(answer.content)
    assert size <= MAX_BYTES, "shorten descriptions or share schemas; for a new operation, raise MAX_BYTES"


@pytest.mark.long
def test_the_compact_document_is_valid(openapi_document: dict[str, Any]) -> None:
    """The document conforms to OpenAPI 3.1, and every reference and example is valid."""
    OpenAPIV31SpecValidator(compact(openapi_document)).validate()


def test_every_reference_has_its_component(openapi_document: dict[str, Any]) -> None:
    """Every `$ref` and mapping has its component, and every component is used."""
    for one in (openapi_document, compact(openapi_document)):
        references = set(re.findall(r"'#/components/(\w+/[^']+)'", str(one)))
        components = {f"{section}/{name}" for section, all_ in one["components"].items() for name in all_}
        assert references <= components
        assert not {name for name in components - references if not name.startswith("securitySchemes/")}


def test_the_compact_document_is_equivalent(openapi_document: dict[str, Any]) -> None:
    """With its references resolved, every operation and schema is the one that FastAPI generated."""
    served = compact(openapi_document)
    expanded = _expanded({key: served[key] for key in ("paths", "components")}, served, openapi_document)
    for methods in expanded["paths"].values():
        for operation in methods.values():
            operation.setdefault("security", served["security"])
            operation["responses"] = _general_problems(operation["responses"]) | operation["responses"]
            operation["responses"].pop("default", None)
    schemas = {
        name: expanded["components"]["schemas"][name] for name in openapi_document["components"]["schemas"]
    }
    assert _normalized(expanded["paths"]) == _normalized(openapi_document["paths"])
    assert _normalized(schemas) == _normalized(openapi_document["components"]["schemas"])
    for section in served.keys() - {"paths", "components", "security"}:
        assert served[section] == openapi_document[section]
    assert served["components"]["securitySchemes"] == openapi_document["components"]["securitySchemes"]


@pytest.mark.long
@pytest.mark.slow  # takes five seconds; the tests above cover validity and equivalence
def test_generators_read_the_compact_document(openapi_document: dict[str, Any], tmp_path: Path) -> None:
    """datamodel-code-generator generates models; a schema that extends another one is a subclass."""
    source, target = tmp_path / "openapi.json", tmp_path / "models.py"
    source.write_text(json.dumps(compact(openapi_document)))
    command = [sys.executable, "-P", "-m", "datamodel_code_generator", f"--input={source}"]
    options = [
        "--input-file-type=openapi",
        "--output-model-type=pydantic_v2.BaseModel",
        "--formatters=builtin",
        f"--output={target}",
    ]
    subprocess.run([*command, *options], check=True, capture_output=True)
    models = runpy.run_path(str(target))
    assert issubclass(models["ListedModel"], models["Model"])
    fields = models["ListedModel"].model_fields
    assert fields.keys() == ListedModel.model_fields.keys()
    assert fields["dataset_name"].annotation == str | None


def test_only_titles_that_repeat_the_name_are_removed() -> None:
    """A title that repeats the name is removed; a property with the name `title` is kept."""
    properties = {
        "job_id": {"type": "string", "title": "Job Id"},
        "title": {"type": "string", "title": "Shown above"},
    }
    schema = {"type": "object", "title": "Thing", "properties": properties, "examples": [{"title": "Thing"}]}
    operation = {"operationId": "get_thing", "tags": ["things"], "responses": {}, "security": []}
    served = compact(
        {"paths": {"/": {"get": operation}}, "components": {"schemas": {"Thing": schema}}},
    )
    assert served["components"]["schemas"]["Thing"] == {
        "type": "object",
        "properties": {"job_id": {"type": "string"}, "title": {"type": "string", "title": "Shown above"}},
        "examples": [{"title": "Thing"}],
    }


def _expanded(value: Any, served: dict[str, Any], document: dict[str, Any]) -> Any:
    """Replace the references to components that the document of FastAPI does not have."""
    if isinstance(value, list):
        return [_expanded(one, served, document) for one in value]
    if not isinstance(value, Mapping):
        return value
    if isinstance(value.get("$ref"), str):
        section, name = value["$ref"].split("/")[2:]
        if name not in document["components"].get(section, {}):
            assert len(value) == 1
            return _expanded(served["components"][section][name], served, document)
    expanded = {key: _expanded(one, served, document) for key, one in value.items()}
    if "allOf" in expanded:
        if "unevaluatedProperties" in expanded:
            expanded["additionalProperties"] = expanded.pop("unevaluatedProperties")
        parts = [_expanded(_referenced(part, served), served, document) for part in expanded.pop("allOf")]
        expanded["type"] = "object"
        expanded["properties"] = {key: one for part in parts for key, one in part["properties"].items()}
        expanded["required"] = [key for part in parts for key in part.get("required", ())]
    return expanded


def _referenced(schema: dict[str, Any], served: dict[str, Any]) -> dict[str, Any]:
    """Return the component that a schema refers to, or the schema itself."""
    return served["components"]["schemas"][schema["$ref"].split("/")[3]] if "$ref" in schema else schema


def _general_problems(responses: dict[str, Any]) -> dict[str, Any]:
    """Return the problems of a `default` response, each as the response of its status."""
    if "default" not in responses:
        return {}
    ((media_type, content),) = responses["default"]["content"].items()
    return {
        status: {
            "description": example["summary"],
            "content": {media_type: {"schema": content["schema"], "example": example["value"]}},
        }
        for status, example in content["examples"].items()
    }


def _normalized(value: Any) -> Any:
    """Normalize titles, nullable types and parameters."""
    if isinstance(value, list):
        return [_normalized(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    members = {key: one for key, one in value.items() if key != "title" or not isinstance(one, str)}
    if "in" in members:
        members.setdefault("required", False)
        if members["schema"].get("description") == members.get("description"):
            members["schema"] = {key: one for key, one in members["schema"].items() if key != "description"}
        match members["schema"]:
            case {"anyOf": [value, {"type": "null"}], **around}:
                members["schema"] = {**around, **value}
            case {"anyOf": [*values, {"type": "null"}], **around}:
                members["schema"] = {**around, "anyOf": values}
    if "properties" in members:
        members["required"] = sorted(members.get("required", ()))
    match members:
        case {"anyOf": [{"type": str(kind), **rest}, {"type": "null"}], **around} if not (
            rest.keys() & {"const", "enum", *around}
        ):
            members = {**rest, **around, "type": [kind, "null"]}
    return {key: _normalized(one) for key, one in members.items()}


@pytest.mark.parametrize("name", REQUEST_EXAMPLES)
def test_job_examples_are_valid(name: str) -> None:
    """Documented examples conform to the schema, and those of training jobs also to core."""
    example = REQUEST_EXAMPLES[name]["value"]
    request = TypeAdapter(JobRequest).validate_python(example)
    if isinstance(request, TrainRequest):
        training_spec(training_values(request))


@pytest.mark.parametrize(
    ("operation", "model"),
    [
        ("create_synthetic_dataset", SyntheticDatasetRequest),
        ("create_folder_datasets", FolderDatasetRequest),
        ("set_alias", AliasRequest),
        ("set_gate", GateRequest),
        ("change_model", ModelChanges),
        ("create_key", KeyRequest),
        ("rank_candidates", RankRequest),
        ("export_named", ExportRequest),
        ("export_named_archive", ParityRequest),
    ],
)
def test_other_examples_are_valid(
    operations: dict[str, dict[str, Any]], operation: str, model: type[Any]
) -> None:
    """Examples of other bodies conform to their schemas."""
    examples = operations[operation]["requestBody"]["content"]["application/json"]["examples"]
    for example in examples.values():
        model.model_validate(example["value"])


def test_files_of_examples_have_lines(operations: dict[str, dict[str, Any]]) -> None:
    """The text of an example file can be sent as it is shown: lines end with line ends, not with escapes."""
    forms = [
        operation["requestBody"]["content"].get("multipart/form-data", {})
        for operation in operations.values()
        if "requestBody" in operation
    ]
    texts = [one["value"]["file"] for form in forms for one in form.get("examples", {}).values()]
    assert len(texts) > 4
    assert not [text for text in texts if "\\n" in text]


@pytest.mark.parametrize(
    "model",
    [
        Dataset,
        Corpus,
        Job,
        Model,
        Alias,
        AliasMove,
        Gate,
        Evaluation,
        Inspection,
        ModelTree,
        Key,
        NewKey,
        AuditEntry,
        Upload,
    ],
)
def test_response_examples_are_complete(model: type[Any]) -> None:
    """An example answer has exactly the fields that answers have."""
    (example,) = model.model_config["json_schema_extra"]["examples"]
    assert list(example) == list(model.model_fields)
