"""Distributed trainings: a driver, its ranks, and their placement."""
