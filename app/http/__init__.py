"""HTTP without features: bodies, problems, caching, idempotency, uploads, OpenAPI, logs and limits."""
