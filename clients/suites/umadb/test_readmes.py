"""What the READMEs of the packages show, as it stands there, but for the address."""

import importlib.metadata
import pathlib
import re
import subprocess
import sys

import pytest

from served import Evershard


def blocks_of(package: str) -> list[str]:
    text = str(importlib.metadata.metadata(package).get_payload())
    return re.findall(r"```python\n(.*?)```", text, re.S)


def here(block: str, address: str) -> str:
    return re.sub(r"(localhost|127\.0\.0\.1):50051", address, block)


def is_walk(block: str) -> bool:
    """Not a signature alone, nor a client of servers that are not there."""
    return not re.search(r"(^|: )\s*\.\.\.$", block, re.M) and "example.com" not in block


def run(program: str, folder: pathlib.Path) -> None:
    file = folder / "walk.py"
    file.write_text("from __future__ import annotations\n" + program)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("block", [block for block in blocks_of("umadb") if is_walk(block)])
def test_umadb(block: str, tmp_path: pathlib.Path) -> None:
    with Evershard(tmp_path / "data") as server:
        first = "import umadb, uuid\n" \
                f"umadb.Client('{server.url}').append([umadb.Event('first', b'', ['t'], uuid=uuid.uuid4())])\n"
        run(first + here(block, server.address), tmp_path)


def test_umadb_shows_as_many_walks_as_it_did() -> None:
    assert sum(map(is_walk, blocks_of("umadb"))) == 5


def test_eventsourcing_umadb(tmp_path: pathlib.Path) -> None:
    with Evershard(tmp_path / "data") as server:
        blocks = [block for block in blocks_of("eventsourcing-umadb")]
        assert len(blocks) == 3
        run("\n".join(here(block, server.address) for block in blocks), tmp_path)
