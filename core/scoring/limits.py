"""Limits of models whose scores can be explained, and of the work of one explanation."""

# LightGBM descends by recursion, with a separate path at each level: 131,000 levels overflow the stack, and
# 65,535 features on a path the heap. What engines take of exported trees is as deep.
MAX_DEPTH = 300
# Of one thread at 5 ns: ten seconds. 200 documents of 500 trees with 127 leaves are 3e9 less a third.
MAX_STEPS = 2**31
