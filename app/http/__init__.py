"""HTTP infrastructure of all routes: bodies, problems, caching, idempotency, OpenAPI, logs and limits."""
