"""Attacks on the service, each kept as a test."""
