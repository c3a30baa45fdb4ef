"""HTTP API reference, generated from the OpenAPI document, with one page for each tag."""

import json
from collections.abc import Iterator
from typing import Any

from app import ApiSettings, create_app
from guide.fields import Schema, cell, kind, parameters, table

_FOLDER = "reference/http"


def pages() -> dict[str, str]:
    """Return the pages by path: an index, one page for each tag, and all objects."""
    document = create_app(ApiSettings()).openapi()
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    schemas = document["components"]["schemas"]
    return {
        f"{_FOLDER}/index.md": _index(document, tags),
        **{f"{_FOLDER}/{tag}.md": _page(document, tag, description) for tag, description in tags.items()},
        f"{_FOLDER}/objects.md": _objects(schemas),
    }


def _index(document: dict[str, Any], tags: dict[str, str]) -> str:
    lines = ["# HTTP interface\n", document["info"]["description"], ""]
    lines.append(
        "Try every operation of the running service at [`/docs`](/docs). These pages are generated from"
        " `/openapi.json`.\n"
    )
    for tag, description in tags.items():
        lines += [
            f"## [{tag.capitalize()}]({tag}.md)\n",
            f"{description}.\n",
            "| operation | summary |",
            "| --- | --- |",
        ]
        lines += [
            f"| `{method.upper()} {path}` | [{operation['summary']}]({tag}.md#{_anchor(operation)}) |"
            for method, path, operation in _operations(document, tag)
        ]
        lines.append("")
    return "\n".join(lines)


def _page(document: dict[str, Any], tag: str, description: str) -> str:
    head = f"---\ntitle: {tag.capitalize()}\n---\n\n# {tag.capitalize()}\n\n{description}.\n\n"
    return head + "\n".join(
        _operation(method, path, operation, document["components"]["schemas"])
        for method, path, operation in _operations(document, tag)
    )


def _operations(document: dict[str, Any], tag: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][0] == tag:
                yield method, path, operation


def _anchor(operation: Schema) -> str:
    return str(operation["operationId"]).replace("_", "-")


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    alternatives = operation.get("security") or []
    key = next(
        (f"Needs a key with the scope `{scopes[0]}`." for each in alternatives for scopes in each.values()),
        "Needs no key.",
    )
    return "\n".join(
        (
            f"## {operation['summary']} {{ #{_anchor(operation)} }}\n",
            f'<p class="operation"><span class="method {method}">{method.upper()}</span>'
            f" <code>{path}</code></p>\n",
            operation.get("description", ""),
            f"\n{key}\n",
            parameters(operation.get("parameters", [])),
            _body(operation["requestBody"], schemas) if "requestBody" in operation else "",
            _responses(operation["responses"]),
        )
    )


def _body(body: dict[str, Any], schemas: dict[str, Any]) -> str:
    parts = []
    for media_type, content in body["content"].items():
        schema = content.get("schema", {})
        parts.append(f"**Body**, `{media_type}`: {kind(schema)}\n")
        if "$ref" in schema:
            parts.append(table(schemas[schema["$ref"].rsplit("/", 1)[-1]]))
        elif schema.get("properties"):
            parts.append(table(schema))
        parts += [_example(summary, example["value"]) for summary, example in _examples(content)]
    return "\n".join(parts)


def _examples(content: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    named = content.get("examples", {})
    return [(example.get("summary", name), example) for name, example in named.items()]


def _example(summary: str, value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False) if not isinstance(value, str) else value
    indented = "\n".join(f"    {line}" for line in text.splitlines())
    return f'??? example "{summary}"\n\n    ```json\n{indented}\n    ```\n'


def _responses(responses: dict[str, Any]) -> str:
    rows = [
        f"| `{status}` | {cell(response['description'])} | {_content(response)} |"
        for status, response in sorted(responses.items())
    ]
    return "| status | meaning | body |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n"


def _content(response: dict[str, Any]) -> str:
    types = (
        kind(content["schema"]) if content.get("schema", {}).get("$ref") else f"`{media_type}`"
        for media_type, content in response.get("content", {}).items()
    )
    return ", ".join(dict.fromkeys(types))


def _objects(schemas: dict[str, Any]) -> str:
    lines = ["# Objects\n", "The bodies of requests and responses. A star marks required fields.\n"]
    for name in sorted(schemas, key=str.lower):
        schema = schemas[name]
        lines += [f"## {name} {{ #{name.lower()} }}\n", schema.get("description", ""), "", table(schema)]
    return "\n".join(lines)
