"""Distributed trainings: the driver, the ranks, and their placement on machines."""
