"""A server of Evershard's that speaks UmaDB's protocol, as a process; and UmaDB's own."""

import os
import pathlib
import socket
import subprocess
import sys
import time


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Evershard:
    """Killed where it still runs at the end."""

    def __init__(self, data: pathlib.Path, port: int | None = None) -> None:
        self.data = data
        self.address = f"127.0.0.1:{port or free_port()}"
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def __enter__(self) -> "Evershard":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        words = [os.environ["EVERSHARD_SERVER"], "serve", "--data", str(self.data), "--shards", "4", "--log-level",
                 "error", "--listen", "127.0.0.1:0", "--http-listen", "none", "--umadb-listen", self.address]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert f"umadb {self.address}" in line, line

    def kill(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        self.process.communicate()
        self.process = None


class UmaDb:
    """UmaDB itself, as the Python package brings it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        program = pathlib.Path(sys.executable).parent / "umadb"
        self.process = subprocess.Popen([program, "--listen", self.address, "--db-path", str(folder)],
                                        stdout=subprocess.DEVNULL)
        for _ in range(100):
            time.sleep(0.1)
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", int(self.address.split(":")[1]))) == 0:
                    return
        raise RuntimeError("UmaDB does not listen")

    def __enter__(self) -> "UmaDb":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
