#!/usr/bin/env python3
"""Generates evershard/v1, the messages and stubs of protocol/v1.

    ./stubs.py [DIRECTORY]      into DIRECTORY/evershard/v1; beside this file otherwise, where git ignores it

It takes Debian's protoc with its gRPC plugin where both are there (protobuf-compiler, protobuf-compiler-grpc), so that
the code runs with every protobuf from 4.21 on; grpcio-tools otherwise. The build of the package calls it (setup.py).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROTOS = [
    "event",
    "store",
    "service",
    "groups",
    "projections",
    "tables",
    "documents",
    "retention",
    "scheduled",
    "asks",
]
WITHOUT_CALLS = {"event", "store"}


def protocol() -> Path:
    """The folder of the .proto files: in a source package beside this file, else in the tree around it."""
    places = [Path(os.environ["EVERSHARD_PROTOCOL"])] if "EVERSHARD_PROTOCOL" in os.environ else []
    places += [HERE / "protocol", HERE.parent.parent / "protocol"]
    for place in places:
        if (place / "v1" / "service.proto").exists():
            return place / "v1"
    raise SystemExit(f"evershard: no protocol/v1 in {', '.join(map(str, places))}; EVERSHARD_PROTOCOL names it")


def has_protoc() -> bool:
    return bool(shutil.which("protoc") and shutil.which("grpc_python_plugin"))


def generate(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    include = f"-Ievershard/v1={protocol()}"
    every = [f"evershard/v1/{name}.proto" for name in PROTOS]
    calls = [f"evershard/v1/{name}.proto" for name in PROTOS if name not in WITHOUT_CALLS]
    if has_protoc():
        command, plugin = ["protoc"], [f"--plugin=protoc-gen-grpc_python={shutil.which('grpc_python_plugin')}"]
    else:
        command, plugin = [sys.executable, "-m", "grpc_tools.protoc"], []
    for words in (
        [f"--python_out={directory}", f"--pyi_out={directory}", *every],
        [*plugin, f"--grpc_python_out={directory}", *calls],
    ):
        subprocess.run([*command, include, *words], check=True)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
