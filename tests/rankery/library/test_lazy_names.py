"""Names that a package imports on first use."""

import compileall
import subprocess
import sys
from pathlib import Path

_PACKAGE = """
from typing import TYPE_CHECKING
from rankery.lazy_names import lazy_names
if TYPE_CHECKING:
    from lazy import part
    from lazy.part import Thing
__getattr__ = lazy_names(__name__)
"""


def test_a_package_without_sources_imports_its_names(tmp_path: Path) -> None:
    """Compiled files suffice, as in an application that PyInstaller has packed."""
    package = tmp_path / "lazy"
    package.mkdir()
    (package / "__init__.py").write_text(_PACKAGE)
    (package / "part.py").write_text("class Thing: ...\n")
    compileall.compile_dir(package, quiet=1, legacy=True)
    for source in package.glob("*.py"):
        source.unlink()
    program = f"import sys; sys.path.append({str(tmp_path)!r}); import lazy; print(lazy.Thing, lazy.part)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("<class 'lazy.part.Thing'> <module 'lazy.part' "), done.stderr


def test_an_import_of_the_package_reads_no_names() -> None:
    """Modules that read source or bytecode are imported with the first name, not with the package."""
    program = "import sys, rankery; print({'ast', 'dis'} & sys.modules.keys())"
    assert (
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True).stdout == "set()\n"
    )
