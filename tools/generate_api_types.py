"""Generate the TypeScript types of the API from its OpenAPI document; `make check` runs it.

The dashboard's JavaScript is checked against them: see `tsconfig.json`.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.generate_client import openapi_document

ROOT = Path(__file__).parents[1]
TYPES = ROOT / "app" / "dashboard" / "types" / "openapi.d.ts"
# Untyped properties of all schemas, or of one, with their types in `globals.d.ts` and `results.d.ts`.
_OPEN_PROPERTIES = {
    "ClickLog.statistics": "LogStatistics",
    "Experiment.estimate": "ExperimentEstimate",
    "Experiment.report": "ExperimentReport",
    "Study.base": "JobSpecification",
    "Trial.parameters": "Record<string, Json>",
    "contract": "Contract",
    "hyperparameters": "Parameters",
    "loss": "LossParameters",
    "metrics": "Metrics",
    "report": "GateReport",
    "result": "JobResult",
    "schemas": "SchemasByName",
    "spec": "JobSpecification",
    "statistics": "Statistics",
}
_MARK = "type "


def main() -> None:
    """Write the types with openapi-typescript, which `npm ci` installs."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(_marked(openapi_document())))
        program = ROOT / "node_modules" / ".bin" / "openapi-typescript"
        command = [str(program), str(document), "--output", str(TYPES)]
        environment = {**os.environ, "PATH": path}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    text = TYPES.read_text()
    for name in _OPEN_PROPERTIES.values():
        text = text.replace(f'"{_MARK}{name}"', name)
    TYPES.write_text(text)


def _marked(document: dict[str, Any]) -> dict[str, Any]:
    """Replace untyped properties by constants that name their types."""
    for kind, schema in document["components"]["schemas"].items():
        for name, value in schema.get("properties", {}).items():
            described = _OPEN_PROPERTIES.get(f"{kind}.{name}", _OPEN_PROPERTIES.get(name))
            if described:
                _mark(value, described)
    return document


def _mark(schema: dict[str, Any], name: str) -> None:
    for option in schema.get("anyOf", [schema]):
        if option.get("additionalProperties") is True:
            option.clear()
            option["const"] = f"{_MARK}{name}"


if __name__ == "__main__":
    main()
