"""Writes clients/js/src/types.ts from the OpenAPI document.

    python -m tests.make_client_types

Each schema becomes an interface, `Page[X]` becomes `Page<X>`, and `Operations` maps each route
("GET /api/jobs/{id}") to its path and query parameters, its body and its answer. Bodies and answers
that are not JSON are BodyInit and Response.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from api.main import create_app
from ingest.runtime import Runtime

TYPES: Final = Path(__file__).parents[1] / "clients" / "js" / "src" / "types.ts"

_HEADER: Final = """\
// Generated from the OpenAPI document by `python -m tests.make_client_types`; do not edit.

/** One page of a list; `nextCursor` is null on the last one. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}
"""
_JSON: Final = "application/json"
_SCALARS: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}

Schema = Mapping[str, Any]


@asynccontextmanager
async def _never() -> AsyncIterator[Runtime]:
    raise AssertionError("the document needs no runtime")
    yield


def typescript(document: Schema) -> str:
    """The types of an OpenAPI 3.1 document, the same for the same document."""
    schemas = document["components"]["schemas"]
    parts = [_HEADER]
    parts += [_named(name, schemas[name]) for name in sorted(schemas) if not _page_of(name)]
    operations = "\n".join(_operations(document["paths"]))
    parts.append(f"export interface Operations {{\n{operations}\n}}\n")
    return "\n".join(parts)


def _named(name: str, schema: Schema) -> str:
    comment = _comment(schema, indent="")
    if "properties" in schema:
        return f"{comment}export interface {name} {{\n{_members(schema, indent='  ')}}}\n"
    return f"{comment}export type {name} = {_type(schema)};\n"


def _members(schema: Schema, *, indent: str) -> str:
    required = schema.get("required", ())
    lines = [
        f"{_comment(member, indent=indent)}{indent}{_key(name)}{'' if name in required else '?'}: "
        f"{_type(member, indent=indent)};\n"
        for name, member in schema["properties"].items()
    ]
    if schema.get("additionalProperties") is True:
        lines.append(f"{indent}[name: string]: unknown;\n")
    return "".join(lines)


def _type(schema: Schema, *, indent: str = "") -> str:
    if "$ref" in schema:
        return _reference(schema["$ref"])
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            options = [_type(option, indent=indent) for option in schema[union]]
            return (" & " if union == "allOf" else " | ").join(dict.fromkeys(options))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(json.dumps(value) for value in values)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": each}, indent=indent) for each in kind)
    if kind == "array":
        item = _type(schema.get("items", {}), indent=indent)
        return f"({item})[]" if " " in item else f"{item}[]"
    if kind == "object":
        return _object(schema, indent=indent)
    return _SCALARS.get(kind or "", "unknown")


def _object(schema: Schema, *, indent: str) -> str:
    if "properties" in schema:
        return f"{{\n{_members(schema, indent=indent + '  ')}{indent}}}"
    values = schema.get("additionalProperties", True)
    value = "unknown" if isinstance(values, bool) else _type(values, indent=indent)
    return f"Record<string, {value}>"


def _reference(reference: str) -> str:
    name = reference.rpartition("/")[2]
    item = _page_of(name)
    return f"Page<{item}>" if item else name


def _page_of(name: str) -> str | None:
    match = re.fullmatch(r"Page_(\w+)_", name)
    return match and match[1]


def _operations(paths: Schema) -> Iterator[str]:
    for path in sorted(paths):
        for method in sorted(paths[path]):
            operation = paths[path][method]
            yield f'{_comment(operation, indent="  ")}  "{method.upper()} {path}": {{'
            yield f"    path: {_parameters(operation, 'path')};"
            yield f"    query: {_parameters(operation, 'query')};"
            yield f"    body: {_body(operation)};"
            yield f"    answer: {_answer(operation)};"
            yield "  };"


def _parameters(operation: Schema, place: str) -> str:
    found = [item for item in operation.get("parameters", ()) if item["in"] == place]
    members = [
        f"{_key(item['name'])}{'' if item.get('required') else '?'}: {_type(item['schema'])}"
        for item in found
    ]
    return f"{{ {'; '.join(members)} }}" if members else "{}"


def _body(operation: Schema) -> str:
    content = operation.get("requestBody", {}).get("content")
    if not content:
        return "undefined"
    return _type(content[_JSON].get("schema", {})) if set(content) == {_JSON} else "BodyInit"


def _answer(operation: Schema) -> str:
    answers = [
        answer.get("content", {})
        for status, answer in operation["responses"].items()
        if status.startswith("2")
    ]
    contents = [content for content in answers if content]
    if not contents:
        return "undefined"
    if any(set(content) != {_JSON} for content in contents):
        return "Response"
    return " | ".join(
        dict.fromkeys(_type(content[_JSON].get("schema", {})) for content in contents)
    )


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)


def _comment(schema: Schema, *, indent: str) -> str:
    lines: Sequence[str] = schema.get("description", "").strip().replace("*/", "* /").split("\n")
    if not lines[0]:
        return ""
    text = f"\n{indent} * ".join(line.rstrip() for line in lines)
    return f"{indent}/** {text} */\n".replace(" * \n", " *\n")


def current() -> str:
    """The types of this version's API."""
    return typescript(create_app(_never).openapi())


if __name__ == "__main__":
    TYPES.write_text(current())
