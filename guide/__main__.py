"""Build the guide: `python -m guide [--site-dir FOLDER]` writes its pages and calls the site generator."""

import os
import subprocess
import sys
from pathlib import Path

from guide.pages import write_pages

_ROOT = Path(__file__).parents[1]
_PAGES = _ROOT / "build" / "guide"
# Only this module and mkdocs.yml depend on the site generator.
# Not --quiet: it hides warnings from --strict, such as a link to a missing anchor.
_SITE_GENERATOR = ("mkdocs", "build", "--strict")
_WITHOUT_ADVERTISEMENT = {"NO_MKDOCS_2_WARNING": "1"}


def main(arguments: list[str]) -> int:
    """Write the pages and build the site; pass the arguments to the site generator."""
    write_pages(_PAGES)
    command = [sys.executable, "-m", *_SITE_GENERATOR, *arguments]
    environment = os.environ | _WITHOUT_ADVERTISEMENT
    built = subprocess.run(  # noqa: S603 - our own command
        command, cwd=_ROOT, env=environment, check=False, stderr=subprocess.PIPE, text=True
    )
    if built.returncode:
        sys.stderr.write(built.stderr)
    return built.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
