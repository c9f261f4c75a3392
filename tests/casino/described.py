"""Answers held against the API's description: each is checked with the JSON schema of its operation and status."""

from functools import cache
from typing import Any

import httpx
import jsonschema
from drf_spectacular.generators import SchemaGenerator

from tests.casino.contract import as_json_schema, operation_of

METHODS = ("get", "post")


@cache
def schema() -> dict[str, Any]:
    """The OpenAPI document."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    found: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@cache
def operations() -> dict[str, dict[str, Any]]:
    """The described operations by their ids."""
    paths = schema()["paths"].values()
    return {one["operationId"]: one for methods in paths for method, one in methods.items() if method in METHODS}


def assert_described(answer: httpx.Response) -> None:
    """The answer's status, media type and, where it is JSON, body are what the schema says of its operation, which has
    no property that the schema does not name."""
    operation = operation_of(answer.request.method, answer.request.url.path)
    assert operation is not None, answer.request.url.path
    responses = operations()[operation.id]["responses"]
    assert str(answer.status_code) in responses, (operation.id, answer.status_code)
    content = responses[str(answer.status_code)].get("content", {})
    if not content:
        assert not answer.content, operation.id
        return
    media = media_type(answer)
    assert media in content, (operation.id, media)
    if media.endswith("json"):
        validator = _validator(operation.id, answer.status_code, media)
        _assert_valid(validator, answer.json(), f"{operation.id} {answer.status_code}")


def assert_fits(described: dict[str, Any], value: Any) -> None:
    """A value is what a schema of the description says."""
    _assert_valid(_made(described), value, str(described))


def _assert_valid(validator: jsonschema.Draft202012Validator, value: Any, name: str) -> None:
    errors = [(error.json_path, error.message) for error in validator.iter_errors(value)]
    assert not errors, (name, errors)


def media_type(answer: httpx.Response) -> str:
    """Of the answer's body, without parameters."""
    return answer.headers["Content-Type"].partition(";")[0]


@cache
def _components() -> Any:
    return as_json_schema(schema()["components"])


@cache
def _validator(operation: str, status: int, media: str) -> jsonschema.Draft202012Validator:
    return _made(operations()[operation]["responses"][str(status)]["content"][media]["schema"])


def _made(described: dict[str, Any]) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**as_json_schema(described), "components": _components()})
