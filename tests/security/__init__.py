"""Attacks on the service, each as a test."""
