"""TLS and mutual TLS, with certificates made here: against the server where it is evershard's own, else against Python's."""

from __future__ import annotations

import concurrent.futures
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import fake
import grpc
import pytest
from conftest import IS_DOOR

import evershard
from evershard import Client, Event, Tls
from evershard.v1 import service_pb2


def openssl(*words: str, folder: pathlib.Path) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("tls")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(
        "req",
        "-x509",
        *key,
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-days",
        "2",
        "-subj",
        "/CN=test CA",
        folder=folder,
    )
    for name, alternative in (
        ("server", "subjectAltName=DNS:store.example,IP:127.0.0.1"),
        ("client", "subjectAltName=DNS:client.example"),
    ):
        (folder / "extensions").write_text(alternative)
        openssl(
            "req",
            *key,
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
            "-subj",
            f"/CN={name}",
            folder=folder,
        )
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions",
                "-out", f"{name}.pem", folder=folder)  # fmt: skip
    return folder


@pytest.fixture(params=[False, True], ids=["tls", "mutual"])
def address(request: pytest.FixtureRequest, certificates: pathlib.Path, make_server: Any) -> Iterator[tuple[str, bool]]:
    mutual: bool = request.param
    if not IS_DOOR:
        extra = [
            "--tls-cert",
            str(certificates / "server.pem"),
            "--tls-key",
            str(certificates / "server.key"),
        ]
        extra += ["--tls-client-ca", str(certificates / "ca.pem")] if mutual else []
        yield make_server(extra=tuple(extra)).address, mutual
        return
    pair = (
        (certificates / "server.key").read_bytes(),
        (certificates / "server.pem").read_bytes(),
    )
    root = (certificates / "ca.pem").read_bytes() if mutual else None
    script = fake.Fake()
    script.scripts = {
        "Head": [lambda *_: service_pb2.HeadResponse()],
        "Append": [lambda *_: fake.appended()],
    }
    server, where = fake.serve(script, grpc.ssl_server_credentials([pair], root, mutual))
    yield where, mutual
    server.stop(0)


def test_who_is_trusted_is_spoken_to(certificates: pathlib.Path, address: tuple[str, bool]) -> None:
    where, mutual = address
    mine = (
        {
            "certificate": certificates / "client.pem",
            "key": (certificates / "client.key").read_bytes(),
        }
        if mutual
        else {}
    )
    for tls in (Tls(certificates / "ca.pem", **mine), Tls((certificates / "ca.pem").read_bytes(), server_name="store.example", **mine)):  # type: ignore[arg-type]
        with Client(where, tls=tls, token="t" * 20, timeout=60) as store:
            assert store.head() == 0
    with Client(where, tls=Tls(certificates / "ca.pem", **mine), timeout=60) as store:  # type: ignore[arg-type]
        assert store.append(Event("T")).first_position == 1


def test_who_is_not_trusted_is_not(certificates: pathlib.Path, address: tuple[str, bool]) -> None:
    where, mutual = address
    wrong: list[Tls | bool] = [
        True,
        False,
        Tls(certificates / "ca.pem", server_name="other.example"),
    ]
    if mutual:
        wrong.append(Tls(certificates / "ca.pem"))

    def refused(tls: Tls | bool) -> None:
        with Client(where, tls=tls, timeout=3) as store, pytest.raises(evershard.UnavailableError):
            store.head()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(refused, wrong))


def test_files_that_are_none(tmp_path: pathlib.Path) -> None:
    with pytest.raises(evershard.InvalidArgumentError, match="absent"):
        Client("127.0.0.1:1", tls=Tls(tmp_path / "absent"))
    with pytest.raises(evershard.InvalidArgumentError, match="go together"):
        Tls(certificate=b"x")
