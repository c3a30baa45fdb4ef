"""Deletion of jobs, models and results: holders, trash, retention and the bytes that they free."""
