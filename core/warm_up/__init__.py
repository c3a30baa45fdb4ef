"""Ahead-of-time compilation of kernels: in child processes, then loaded from the disk cache."""

from core.warm_up.compilation import Progress, compile_kernels, progress
from core.warm_up.parts import DEMO, FORESTS, PARTS, SCORING, Part, missing_parts, warm_up
