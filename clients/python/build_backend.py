"""setuptools, and grpcio-tools where protoc is missing: the build of the package generates evershard/v1 (stubs.py)."""

import sys
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stubs  # noqa: E402


def _tools() -> list[str]:
    return [] if stubs.has_protoc() else ["grpcio-tools>=1.51"]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return build_meta.get_requires_for_build_wheel(config_settings) + _tools()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return build_meta.get_requires_for_build_editable(config_settings) + _tools()
