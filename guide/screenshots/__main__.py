"""Take screenshots with the Chromium of RANKERY_TEST_CHROMIUM: `python -m guide.screenshots [FOLDER]`."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from guide.screenshots.browser import chromium, save_screenshots
from guide.screenshots.figures import FOLDER
from guide.screenshots.shop import fill
from rankery import Client
from rankery.embedded.stack import EmbeddedStack


def main(arguments: list[str]) -> int:
    """Start a service in a temporary folder, fill it, and take the screenshots."""
    folder = Path(arguments[0]) if arguments else FOLDER
    program = shutil.which(os.environ.get("RANKERY_TEST_CHROMIUM", "/usr/bin/chromium"))
    if program is None:
        sys.stderr.write(
            "no Chromium was found, so the guide has no screenshots; set RANKERY_TEST_CHROMIUM to its path\n"
        )
        return 0
    with (
        tempfile.TemporaryDirectory(prefix="rankery-guide-") as name,
        tempfile.TemporaryDirectory(prefix="rankery-guide-") as files,
        EmbeddedStack(Path(name), host="127.0.0.1", port=0) as stack,
        Client(stack.url) as client,
        chromium(program) as browser,
    ):
        save_screenshots(browser, stack.url, fill(client, Path(files)), folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
