"""Exports of linear scorers and networks: evaluation of the files, parity and golden vectors."""
