"""What pyproject.toml cannot say: a build generates evershard/v1, and a source package takes protocol/v1 along."""

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import stubs  # noqa: E402


class BuildPy(build_py):
    def run(self) -> None:
        super().run()
        stubs.generate(HERE if getattr(self, "editable_mode", False) else Path(self.build_lib))


class SourcePackage(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        shutil.copytree(stubs.protocol(), Path(base_dir) / "protocol" / "v1", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildPy, "sdist": SourcePackage})
