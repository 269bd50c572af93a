"""Connections that can never be made are told at once, in plain words; once a server was there, it is waited for."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import fake
import grpc
import pytest
from conftest import ROOT

import evershard
from evershard import Append, Client, Event, Tls, UnavailableError
from evershard._connect_faults import ConnectFaults, words_of
from evershard._connection import addresses_of
from evershard._errors import ConflictError

TABLE = json.loads((ROOT / "tests/clients/connections.json").read_text())
LONG = 600.0  # nobody waits so long for a test: what ends, ended before its time


@pytest.mark.parametrize("row", TABLE["addresses"], ids=lambda row: row["given"])
def test_an_address_is_read_as_the_table_says(row: dict[str, Any]) -> None:
    if row.get("refused"):
        with pytest.raises(evershard.InvalidArgumentError, match="no address"):
            addresses_of(row["given"])
    else:
        assert addresses_of(row["given"]) == [row["is"]]


def test_a_fault_is_named_as_the_table_says() -> None:
    assert [words_of(row["text"]) for row in TABLE["faults"]] == [row["says"] for row in TABLE["faults"]]


def test_faults_are_final_when_every_address_says_so_and_nobody_was_ever_there() -> None:
    refused, untrusted = (UnavailableError(TABLE["faults"][row]["text"]) for row in (0, 8))
    one = ConnectFaults(1)
    assert not one.failed(0, "a", refused, 10.0).lasting, "it may be starting"
    assert not one.failed(0, "a", refused, 10.9).lasting
    assert one.failed(0, "a", refused, 11.0).lasting
    assert ConnectFaults(1).failed(0, "a", untrusted, 0.0).lasting
    two = ConnectFaults(2)
    assert not two.failed(0, "a", untrusted, 0.0).lasting
    assert two.failed(1, "b", untrusted, 0.0).lasting
    for told in (False, True):
        met = ConnectFaults(1)
        if told:
            met.failed(0, "a", ConflictError("no", told_by_server=True), 0.0)
        else:
            met.heard()
        assert met.failed(0, "a", refused, 0.0) is refused and met.failed(0, "a", refused, 100.0) is refused


CALLS: dict[str, Callable[[Client], Any]] = {
    "head": lambda client: client.head(),
    "append": lambda client: client.append(Event("T")),
    "append_many": lambda client: next(client.append_many([Append(Event("T"))])).result(),
    "read": lambda client: list(client.read()),
    "subscribe": lambda client: next(client.subscribe(after=0)),
    "work": lambda client: client.work("g").next(),
    "verify": lambda client: client.verify(),
}


def told_at_once(address: str, match: str, **words: Any) -> None:
    for name, call in CALLS.items():
        with Client(address, timeout=LONG, **words) as client:
            with pytest.raises(UnavailableError, match=match) as caught:
                for _ in range(1000 if name == "verify" else 1):  # verify is never tried again by itself
                    try:
                        call(client)
                    except UnavailableError as error:
                        if error.lasting or name != "verify":
                            raise
                        time.sleep(0.01)
            assert caught.value.lasting and not isinstance(caught.value, evershard.OutcomeUnknownError), name


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("pem")
    certificate, key = str(folder / "cert.pem"), str(folder / "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                    certificate, "-days", "2", "-subj", "/CN=other", "-addext", "subjectAltName=DNS:other"], check=True, capture_output=True)  # fmt: skip
    return certificate, key


@pytest.fixture(scope="module")
def secure(pem: tuple[str, str]) -> Iterator[str]:
    certificate, key = (open(file, "rb").read() for file in pem)
    server, address = fake.serve(fake.Fake(), grpc.ssl_server_credentials([(key, certificate)]))
    yield address
    server.stop(0)


def test_nobody_listens() -> None:
    told_at_once("127.0.0.1:1", "no connection to 127.0.0.1:1: nobody listens there")
    told_at_once("unix:/tmp/no.such.socket", "nobody listens there")
    told_at_once("127.0.0.1:1,127.0.0.1:2", "nobody listens there")


def test_there_is_no_such_host() -> None:
    told_at_once("no-such-host.invalid:7420", "there is no host of that name")


def test_plain_against_tls(secure: str) -> None:
    told_at_once(secure, "it may want TLS")


def test_a_certificate_that_is_not_trusted(secure: str) -> None:
    told_at_once(secure, "not signed by anybody who is trusted here", tls=True)


def test_a_certificate_of_another_name(secure: str, pem: tuple[str, str]) -> None:
    told_at_once(secure, "made out to another name", tls=Tls(root=pem[0]))


def test_tls_against_plain() -> None:
    server, address = fake.serve(fake.Fake())
    told_at_once(address, "it does not speak TLS", tls=True)
    server.stop(0)


def test_the_http_port() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    told_at_once(f"127.0.0.1:{server.server_address[1]}", "it speaks HTTP/1, not gRPC")
    server.shutdown()


def test_one_that_is_just_starting_is_waited_for() -> None:
    script = fake.Fake()
    script.scripts["Append"] = [lambda *_: fake.appended(3)]
    server, address = fake.serve(script)
    server.stop(0).wait()
    with Client(address, timeout=LONG) as client:

        def start() -> None:
            again = grpc.server(fake.futures.ThreadPoolExecutor(4))
            fake.service_pb2_grpc.add_EventStoreServicer_to_server(script, again)  # type: ignore[no-untyped-call]
            again.add_insecure_port(address)
            again.start()
            servers.append(again)

        servers: list[grpc.Server] = []
        starting = threading.Timer(0.1, start)  # a second is borne, of a busy machine too
        starting.start()
        assert client.append(Event("T")).first_position == 3
        starting.join()
        servers[0].stop(0).wait()
        later = threading.Timer(2.5, start)  # longer than what is borne of one that was never there
        later.start()
        assert client.append(Event("T")).first_position == 3
        later.join()  # it answers before it is known here
        servers[1].stop(0)
