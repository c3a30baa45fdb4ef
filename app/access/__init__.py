"""Who may come in: hosts, origins, keys, sessions, scopes, and the record of what was changed."""
