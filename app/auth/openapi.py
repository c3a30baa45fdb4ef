"""Security schemes and scopes in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from app.auth.credentials import SESSION_COOKIE
from app.auth.scopes import HEALTH, rule_of
from app.http.openapi import problems

_SECURITY_SCHEMES: Mapping[str, dict[str, Any]] = {
    "key": {"type": "http", "scheme": "bearer", "description": "An API key"},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": SESSION_COOKIE,
        "description": "Session of a browser that signed in with an API key",
    },
}


def describe_access(document: dict[str, Any]) -> None:
    """Add to each operation the scope that it needs, and its responses to unauthorized requests."""
    document["components"]["securitySchemes"] = _SECURITY_SCHEMES
    for path, methods in document["paths"].items():
        rule = rule_of(path)
        for method, operation in methods.items():
            scope = rule.scope(method.upper()) if rule else None
            operation["security"] = [{name: [scope]} for name in _SECURITY_SCHEMES] if scope else []
            if path not in HEALTH:
                refused = {str(status): response for status, response in problems(401, 403, 421).items()}
                operation["responses"] = {**refused, **operation["responses"]}
