"""The page about the REST API: made from the OpenAPI document, without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")


def groups(document: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Operations by their tag, in the order of their paths."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path, operations in sorted(document["paths"].items()):
        for method in METHODS:
            if method in operations:
                one = operations[method]
                found.setdefault((one.get("tags") or ["others"])[0], []).append(_operation(path, method, one))
    return sorted(found.items())


def _operation(path: str, method: str, one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "path": path,
        "method": method,
        "summary": one.get("summary", ""),
        "description": one.get("description", ""),
        "parameters": [
            {
                "name": parameter["name"],
                "in": parameter["in"],
                "required": parameter.get("required", False),
                "type": _type(parameter.get("schema", {})),
                "description": parameter.get("description", ""),
            }
            for parameter in one.get("parameters", ())
        ],
        "body": ", ".join(one.get("requestBody", {}).get("content", ())),
        "responses": [(status, told.get("description", "")) for status, told in sorted(one["responses"].items())],
    }


def _type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type") or schema.get("$ref", "").rsplit("/", 1)[-1])
