"""Mutated scoring requests against readers that share nothing with ours: same status, same scores to the bit.

python -m tests.app.scoring.differential --bodies 20000
"""
