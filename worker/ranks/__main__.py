"""The process of one rank: `python -m worker.ranks`, its invitation on the standard input."""

import sys
from typing import Any


class _LeftOut:
    """Finds no packages that LightGBM and Arrow import where they are: 65 MB of no use to a rank."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name in ("sklearn", "pandas"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if __name__ == "__main__":
    sys.meta_path.insert(0, _LeftOut())
    from worker.ranks.process import main

    main()
