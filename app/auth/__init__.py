"""Who may call the API: middleware, keys, sessions, origins, rate limits and the audit log."""
