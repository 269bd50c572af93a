"""What a write ends with, by what became of its tries: the table that all clients share, against a server that breaks off as it says."""

from __future__ import annotations

import concurrent.futures
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import fake
import grpc
import pytest
from conftest import ROOT

import evershard
from evershard import Append, Client, ErrorCode, Event, Snapshot
from evershard.v1 import asks_pb2, scheduled_pb2, service_pb2, store_pb2

TABLE = json.loads((ROOT / "tests/clients/outcomes.json").read_text())
ENDLESS = ("breaks", "silence", "overloaded")  # until the time-out
STATUS = {
    "unauthenticated": grpc.StatusCode.UNAUTHENTICATED,
    "permission_denied": grpc.StatusCode.PERMISSION_DENIED,
    "overloaded": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "timeout": grpc.StatusCode.DEADLINE_EXCEEDED,
}
STORED = {
    "Append": fake.appended(),
    "AppendMany": service_pb2.AppendOutcome(appended=fake.appended()),
    "Schedule": scheduled_pb2.ScheduledAppend(),
    "Cancel": scheduled_pb2.ScheduledAppend(),
    "PutSnapshot": service_pb2.PutSnapshotResponse(),
    "Ask": asks_pb2.AskResponse(replied={}),
}


def first_of_many(client: Client) -> None:
    for outcome in client.append_many([Append(Event("T"))]):
        outcome.result()


CALLS: dict[str, Callable[[Client], Any]] = {
    "append": lambda client: client.append(Event("T")),
    "append_many": first_of_many,
    "append_many, ended as a whole": first_of_many,
    "schedule": lambda client: client.schedule(Event("T"), after=timedelta(days=1)),
    "cancel_scheduled": lambda client: client.cancel_scheduled("s"),
    "put_snapshot": lambda client: client.put_snapshot(Snapshot("a-1", {}, version=1)),
    "ask": lambda client: client.ask("a-1", "C", {}, command_id="c"),
}


class Tries(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Does with each try what its case says; whose it is the token says."""

    def __init__(self) -> None:
        self.left: dict[str, list[str]] = {}
        self.lock = threading.Lock()

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        method = details.method.rpartition("/")[2]
        if method not in STORED:
            return None
        case = dict(details.invocation_metadata)["authorization"].removeprefix("Bearer ")
        if method != "AppendMany":
            return grpc.unary_unary_rpc_method_handler(lambda _, context: self.answer(case, method, context))

        def append_many(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
            for _ in requests:
                yield self.answer(case, method, context, each="whole" not in case)

        return grpc.stream_stream_rpc_method_handler(append_many)

    def answer(self, case: str, method: str, context: Any, each: bool = False) -> bytes:
        with self.lock:
            left = self.left[case]
            step = left.pop(0) if len(left) > 1 else left[0]
        if step == "stored":
            return STORED[method].SerializeToString()
        if step == "silence":
            gone = threading.Event()
            context.add_callback(gone.set)
            gone.wait(60)
        if step in ("breaks", "silence"):
            context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        if step == "foreign":
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no")
        code = ErrorCode.UNAVAILABLE if step == "closed" else ErrorCode[step.upper()]
        if each:
            error = store_pb2.Error(code=int(code), message="no", lasting=step == "closed")  # type: ignore[arg-type]
            return service_pb2.AppendOutcome(refused=error).SerializeToString()
        # So that the last try within a short time has time enough for its answer.
        later = {"retry_after_ms": 2_000} if step == "overloaded" else {}
        fake.refuse(context, STATUS.get(step, grpc.StatusCode.ABORTED), code, lasting=step == "closed", **later)
        raise AssertionError


@pytest.fixture(scope="module")
def tries() -> Iterator[Tries]:
    handler = Tries()
    server = grpc.server(ThreadPoolExecutor(128), handlers=(handler,))
    handler.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"  # type: ignore[attr-defined]
    server.start()
    yield handler
    server.stop(0)


def end_of(tries: Tries, name: str, call: Callable[[Client], Any], steps: list[str]) -> str:
    key = f"{name.replace(' ', '_')}/{'/'.join(steps)}"
    tries.left[key] = list(steps)
    # One that ends with its time has time for two tries, on a busy machine.
    timeout = 3 if steps[-1] in ENDLESS else 60
    address = tries.address  # type: ignore[attr-defined]
    with Client(address, token=key, timeout=timeout, unavailable_timeout=0.3, follow_shards=False) as client:
        try:
            call(client)
            return "stored"
        except evershard.OutcomeUnknownError:
            return "unknown"
        except evershard.EvershardError as error:
            return error.code.name.lower()


@pytest.mark.parametrize("name", CALLS)
def test_a_write_ends_as_the_table_says(tries: Tries, name: str) -> None:
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        ends = [(case, pool.submit(end_of, tries, name, CALLS[name], case["tries"])) for case in TABLE["cases"]]
        wrong = [(case, end.result()) for case, end in ends if end.result() != case["ends"]]
    assert not wrong and len(ends) > 30
