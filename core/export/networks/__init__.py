"""Exports of linear scorers and networks: evaluation, parity and golden vectors of what was written."""
