#!/usr/bin/env python3
"""Stands in for the servers that the suite of kurrentdbclient is to find: one without TLS on 2113, one with a
certificate that is its own on 2114, and a cluster of three on 2110 to 2112. Starts them in a folder, runs a command,
stops them.

    servers.py FOLDER COMMAND..."""

import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from processes import SECRET, TOKEN, await_ready, certificates, openssl, private, start, stop  # noqa: E402

COORDINATOR = "127.0.0.1:2109"


def common(name: str, port: int) -> list[str]:
    return ["--data", os.path.abspath(f"data-{name}"), "--shards", "4", "--log-level", "error", "--listen",
            "127.0.0.1:0", "--http-listen", "none", "--kurrent-listen", f"127.0.0.1:{port}"]


def with_tls(certificate: str, tokens: str) -> list[str]:
    return ["--tls-cert", os.path.abspath(f"{certificate}.crt"), "--tls-key", os.path.abspath(f"{certificate}.key"),
            "--tokens", tokens]


def main() -> int:
    os.chdir(sys.argv[1])
    tokens = private("tokens", TOKEN)
    secret = private("secret", SECRET)
    certificates(3)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "certs/alone.key", "-out", "certs/alone.crt",
            "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    started = []

    def begin(name: str, words: list[str]) -> None:
        start(name, words)
        started.append(name)

    try:
        begin("insecure", ["serve", *common("insecure", 2113)])
        begin("secure", ["serve", *common("secure", 2114), *with_tls("certs/alone", tokens)])
        begin("coordinator", ["coordinator", "--listen", COORDINATOR, "--nodes", "3", "--replicas", "3", "--shards",
                              "4", "--secret-file", secret, "--cluster", "c", "--data",
                              os.path.abspath("data-coordinator")])
        await_ready("coordinator")
        for number in range(3):
            port = 2110 + number
            begin(f"node{number}", ["node", *common(f"node{number}", port), "--node", str(number + 1), "--coordinator",
                                    COORDINATOR, "--secret-file", secret, "--cluster", "c", "--kurrent-advertise",
                                    f"127.0.0.1:{port}", *with_tls(f"certs/node{number}/node", tokens)])
        for name in started:
            await_ready(name)
        time.sleep(2)
        first = str(pathlib.Path(__file__).with_name("first_events.py"))
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        for words in (["kdb://localhost:2113?Tls=false"], ["kdb://admin:changeit@localhost:2114", "certs/alone.crt"],
                      ["kdb://admin:changeit@127.0.0.1:2110", "certs/ca/ca.crt"]):
            subprocess.run([sys.argv[2], first, *words], env=environment, check=True)
        return subprocess.run(sys.argv[2:], env=environment).returncode
    finally:
        for name in reversed(started):
            stop(name)


sys.exit(main())
