"""Authentication, authorisation, rate limits and the audit log."""
