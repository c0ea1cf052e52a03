"""Descriptions of fields for the OpenAPI document: the docstrings below the fields.

Pydantic can add them itself (`use_attribute_docstrings`), but makes each start 0.3 s longer.
"""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel

from api.schema.json_model import Body
from ingest.store.view import View


def add_descriptions(schemas: dict[str, Any]) -> None:
    """Add the descriptions to the component schemas of all requests and responses."""
    for model in (*_subclasses(Body), *_subclasses(View)):
        properties = schemas.get(model.__name__, {}).get("properties", {})
        texts = _docstrings(model)
        for name, field in model.model_fields.items():
            schema = properties.get(field.alias or name)
            if schema is not None and name in texts:
                schema.setdefault("description", texts[name])


def _subclasses(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        yield model
        yield from _subclasses(model)


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The docstring of each field, by field name; inherited ones too."""
    found: dict[str, str] = {}
    for parent in reversed(model.__mro__):
        if not issubclass(parent, Body | View) or "[" in parent.__name__:
            continue
        (definition,) = ast.parse(dedent(inspect.getsource(parent))).body
        assert isinstance(definition, ast.ClassDef)  # noqa: S101 the source of a class
        for field, text in pairwise(definition.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(doc))):
                    found[name] = inspect.cleandoc(doc).replace("\n", " ")
    return found
