"""The scope that each path needs: one table, read from the top; an unlisted path is not found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import Pattern

from starlette.routing import compile_path

from app.http.caller import ADMIN, READ, SCORE, WRITE

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})

# Paths of health probes, which need no key and accept any Host header.
HEALTH = frozenset({"/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"})
METRICS = "/metrics"
SCORING_PATHS = (
    "/v1/models/{ref}/rank",
    "/v2/models/{name}/infer",
    "/v2/models/{name}/versions/{version}/infer",
)
SIGN_IN = "/sign-in"
SIGN_OUT = "/sign-out"
# Files that the sign-in page loads.
SIGN_IN_FILES = (
    "/static/favicon.svg",
    "/static/page/theme.js",
    "/static/views/sign_in.js",
    "/static/styles/tokens.css",
    "/static/styles/controls.css",
    "/static/styles/forms.css",
    "/static/styles/sign_in.css",
)


@dataclass(frozen=True)
class Rule:
    """The scopes that some paths need.

    Attributes:
        reading: Scope that GET and the other safe methods need; None for a public path.
        writing: Scope that all other methods need.
        shows_all_projects: Whether the paths show data of all projects; keys bound to projects are refused.
    """

    paths: tuple[Pattern[str], ...]
    reading: str | None
    writing: str | None
    shows_all_projects: bool = False

    def scope(self, method: str) -> str | None:
        """Return the scope that a method needs, or None for a public path."""
        return self.reading if method in SAFE_METHODS else self.writing


def _rule(
    paths: Sequence[str], *, reading: str | None, writing: str | None, shows_all_projects: bool = False
) -> Rule:
    # A query's id may hold line breaks, which `.` does not match.
    patterns = (compile_path(path)[0].pattern for path in paths)
    return Rule(
        tuple(re.compile(pattern, re.DOTALL) for pattern in patterns), reading, writing, shows_all_projects
    )


RULES = (
    _rule([*sorted(HEALTH), SIGN_IN, SIGN_OUT, *SIGN_IN_FILES], reading=None, writing=None),
    _rule(
        [
            "/v1/keys",
            "/v1/keys/{below:path}",
            "/v1/webhooks",
            "/v1/webhooks/{below:path}",
            "/v1/audit",
            "/v1/settings",
        ],
        reading=ADMIN,
        writing=ADMIN,
    ),
    _rule(SCORING_PATHS, reading=READ, writing=SCORE),
    _rule(
        [
            *(f"/v1/interleavings/{{interleaving_id}}/{part}" for part in ("lists", "events")),
            "/v1/served-rankings/events",
        ],
        reading=READ,
        writing=SCORE,
    ),
    # Reads by POST, since the names of features may exceed the limit of a URL.
    _rule(
        [f"/v1/models/{{ref}}/export{part}" for part in ("", "/archive", "/parity")],
        reading=READ,
        writing=READ,
    ),
    _rule(["/v2", "/v2/models/{below:path}"], reading=READ, writing=READ),
    _rule(["/v1/{below:path}"], reading=READ, writing=WRITE),
    _rule([METRICS], reading=READ, writing=READ, shows_all_projects=True),
    _rule(["/openapi.json", "/docs"], reading=READ, writing=READ),
    _rule(["/static/{file:path}", "/static-offline-docs/{file:path}"], reading=READ, writing=READ),
    _rule(
        [
            "/",
            "/jobs",
            "/jobs/{job_id}",
            "/datasets",
            "/datasets/{below:path}",
            "/train",
            "/train/one-loss",
            "/models",
            "/models/{ref}",
            "/evaluations",
            "/evaluations/{evaluation_id}",
            "/studies",
            "/studies/{study_id}",
            "/experiments",
            "/experiments/{experiment_id}",
            "/comparisons",
            "/comparisons/{comparison_id}",
            "/rankings",
            "/rankings/{ranking_id}",
            "/settings",
            "/settings/keys",
            "/settings/audit",
            "/settings/storage",
            "/settings/webhooks",
            "/schedules",
            "/click-logs",
            "/click-logs/{log_id}",
            "/aliases",
            "/interleavings",
            "/interleavings/{interleaving_id}",
            "/drift/{report_id}",
            "/guide",
            "/guide/headings.json",
            "/guide/{path:path}",
        ],
        reading=READ,
        writing=READ,
    ),
)


@lru_cache(maxsize=1_000)
def rule_of(path: str) -> Rule | None:
    """Return the first rule that matches a path, or None."""
    return next((rule for rule in RULES if any(pattern.match(path) for pattern in rule.paths)), None)
