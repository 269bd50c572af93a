"""What stands in for containers starts processes: what it has started stands in files of the folder it is in."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

SERVER = os.environ["EVERSHARD_SERVER"]
SECRET = "0123456789abcdef" * 4
#: `admin`, `changeit`, as a pair: what their containers take.
TOKEN = "admin read,append,admin YWRtaW46Y2hhbmdlaXQ=\n"


def process_of(name: str) -> int | None:
    try:
        number = int(pathlib.Path(name + ".pid").read_text())
        try:
            os.waitpid(number, os.WNOHANG)  # what this process started itself and has ended
        except ChildProcessError:
            pass
        os.kill(number, 0)
        return number
    except (OSError, ValueError):
        return None


def start(name: str, words: list[str]) -> None:
    log = pathlib.Path(name + ".log")
    log.unlink(missing_ok=True)
    with log.open("wb") as out:
        process = subprocess.Popen([SERVER, *words], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
    pathlib.Path(name + ".pid").write_text(str(process.pid))


def await_ready(name: str) -> None:
    log = pathlib.Path(name + ".log")
    for _ in range(1_200):
        if "ready" in log.read_text(errors="replace"):
            return
        if process_of(name) is None:
            break
        time.sleep(0.05)
    sys.exit(f"{name} does not begin: {log.read_text(errors='replace')[-2000:]}")


def stop(name: str) -> None:
    number = process_of(name)
    if number is not None:
        os.kill(number, signal.SIGTERM)
        for _ in range(200):
            if process_of(name) is None:
                break
            time.sleep(0.05)
        else:
            os.kill(number, signal.SIGKILL)
    pathlib.Path(name + ".pid").unlink(missing_ok=True)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def private(file: str, text: str) -> str:
    path = pathlib.Path(file)
    path.write_text(text)
    path.chmod(0o600)
    return str(path.resolve())


def openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificates(nodes: int) -> None:
    """As their tool makes them: one of the nodes' own each, and of two users."""
    if pathlib.Path("certs/ca/ca.crt").exists():
        return
    ca = pathlib.Path("certs/ca")
    ca.mkdir(parents=True, exist_ok=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{ca}/ca.key", "-out", f"{ca}/ca.crt", "-days",
            "30", "-subj", "/CN=ca")
    pathlib.Path("certs/names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    for what in [f"node{i}/node" for i in range(nodes)] + ["user-admin/user-admin", "user-invalid/user-invalid"]:
        to = f"certs/{what}"
        pathlib.Path(to).parent.mkdir(exist_ok=True)
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{to}.key", "-out", "certs/asked", "-subj",
                "/CN=eventstoredb-node")
        openssl("x509", "-req", "-in", "certs/asked", "-CA", f"{ca}/ca.crt", "-CAkey", f"{ca}/ca.key",
                "-CAcreateserial", "-days", "30", "-extfile", "certs/names", "-out", f"{to}.crt")
