"""A real server: the program that EVERSHARD_SERVER names (evershard, or the build's door_test_server), on a free port of loopback."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

import evershard

ROOT = pathlib.Path(__file__).parents[3]
PROGRAM = os.environ.get("EVERSHARD_SERVER", str(ROOT / "build/dev/tests/door/door_test_server"))
IS_DOOR = pathlib.Path(PROGRAM).name == "door_test_server"


class Server:
    """Started at once; start() again after kill() listens where it did."""

    def __init__(
        self,
        data: pathlib.Path | None = None,
        listen: str = "127.0.0.1:0",
        tokens: str | None = None,
        extra: tuple[str, ...] = (),
    ) -> None:
        self.address = listen
        self._data, self._tokens, self._extra = data, tokens, extra
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("EVERSHARD_")
        }  # they are settings to it
        self._process = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self._process.stdout is not None
        ready = self._process.stdout.readline().split()
        assert ready[:1] == ["ready"], f"{PROGRAM} did not start"
        self.address = ready[1]

    def _command(self) -> list[str]:
        if IS_DOOR:
            return [
                PROGRAM,
                str(self._data or "-"),
                self.address,
                *([self._tokens] if self._tokens else []),
                *self._extra,
            ]
        assert self._data is not None
        command = [
            PROGRAM,
            "serve",
            "--data",
            str(self._data),
            "--listen",
            self.address,
            "--http-listen",
            "none",
        ]
        command += ["--log-level", "error", "--drain-timeout", "1s", *self._extra]
        if self._tokens:
            file = self._data.parent / "tokens"
            file.write_text(self._tokens)
            file.chmod(0o600)
            command += ["--tokens", str(file)]
        return command

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(None if IS_DOOR else signal.SIGTERM)

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def _end(self, number: int | None) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        if number is not None:
            process.send_signal(number)
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


class Cluster:
    """A coordinator and nodes on this machine; whoever is killed is started again where it was."""

    def __init__(self, data: pathlib.Path, nodes: int = 3) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EVERSHARD_")}
        self.addresses: list[str] = []
        self.pids: list[int] = []
        self._process = subprocess.Popen(
            [
                PROGRAM,
                "cluster",
                "launch",
                str(nodes),
                "--data",
                str(data),
                "--listen",
                "127.0.0.1:0",
                "--shards",
                "8",
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            words = line.split()
            if words[0] == "node":
                self.addresses.append(words[2])
                self.pids.append(int(words[4]))
            elif words[0] == "ready":
                break
        assert len(self.addresses) == nodes, "the cluster did not start"

    def kill(self, node: int) -> None:
        """Once each, from 0."""
        os.kill(self.pids[node], signal.SIGKILL)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


@pytest.fixture
def cluster(tmp_path: pathlib.Path) -> Iterator[Cluster]:
    if IS_DOOR:
        pytest.skip("needs the program evershard")
    running = Cluster(tmp_path / "cluster")
    yield running
    running.stop()


@pytest.fixture
def make_server(tmp_path: pathlib.Path) -> Iterator[Any]:
    """make_server(): an empty, durable store of this test's own; further words as Server's."""
    servers: list[Server] = []

    def make(**words: Any) -> Server:
        servers.append(Server(**{"data": tmp_path / "data", **words}))
        return servers[-1]

    yield make
    for server in servers:
        server.kill()


@pytest.fixture
def server(make_server: Any) -> Server:
    """In memory, where the server can: it is sooner there."""
    return make_server(**({"data": None} if IS_DOOR else {}))  # type: ignore[no-any-return]


@pytest.fixture
def store(server: Server) -> Iterator[evershard.Client]:
    with evershard.Client(server.address, timeout=60) as client:
        yield client
