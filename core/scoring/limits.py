"""Limits of models whose scores can be explained, and of the work of one explanation."""

# LightGBM explains by recursion, with a copy of the path at each level: 131,000 levels overflow the stack;
# 65,535 features on a path overflow the heap. Search engines accept exported trees of a similar depth.
MAX_DEPTH = 300
# Ten seconds of one thread at 5 ns per step, about 200 documents with 500 trees of 127 leaves.
MAX_STEPS = 2**31
