"""HTTP requests to addresses that users name, guarded against server-side request forgery (SSRF)."""
