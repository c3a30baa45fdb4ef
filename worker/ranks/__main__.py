"""The process of one rank: `python -m worker.ranks`, its invitation on the standard input."""

import sys

if __name__ == "__main__":
    # LightGBM would import it where it is installed, for 40 MB that no rank has a use for.
    sys.modules["sklearn"] = None  # type: ignore[assignment]
    from worker.ranks.process import main

    main()
