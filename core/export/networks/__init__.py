"""Exports of linear scorers and networks: evaluation of the files, and parity."""
