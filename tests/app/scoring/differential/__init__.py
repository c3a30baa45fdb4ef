"""Differential test: independent readers must read mutated scoring requests with the same status and scores.

python -m tests.app.scoring.differential --bodies 20000
"""
