"""Submit, follow and cancel jobs."""
