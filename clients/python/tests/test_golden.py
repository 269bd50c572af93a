"""The wire's golden messages, and the source package."""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import subprocess
import sys
import tarfile

import pytest
from google.protobuf import json_format

from evershard import ScheduledState, _administration, _scheduled, _wire
from evershard.v1 import (
    documents_pb2,
    event_pb2,
    projections_pb2,
    scheduled_pb2,
    service_pb2,
    store_pb2,
    tables_pb2,
)

ROOT = pathlib.Path(__file__).parents[3]
WIRE = ROOT / "tests/golden/wire"
NAMES = sorted(file.stem for file in WIRE.glob("*.bin"))


def message_of(name: str):  # type: ignore[no-untyped-def]
    kind = name.split("-", 1)[0]
    return next(
        getattr(module, kind)
        for module in (
            event_pb2,
            store_pb2,
            service_pb2,
            projections_pb2,
            tables_pb2,
            documents_pb2,
            scheduled_pb2,
        )
        if hasattr(module, kind)
    )


def test_there_are_messages() -> None:
    assert len(NAMES) >= 50 and sorted(file.stem for file in WIRE.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_bytes_and_json_are_the_same_message(name: str) -> None:
    kind, golden, text = (
        message_of(name),
        (WIRE / f"{name}.bin").read_bytes(),
        (WIRE / f"{name}.json").read_text(encoding="utf-8"),
    )
    decoded = kind.FromString(golden)
    assert json.loads(json_format.MessageToJson(decoded)) == json.loads(text)
    assert decoded.SerializeToString(deterministic=True) == golden
    assert json_format.Parse(text, kind()).SerializeToString(deterministic=True) == golden


def test_the_golden_files_are_what_make_makes(tmp_path: pathlib.Path) -> None:
    runpy.run_path(str(WIRE / "make.py"))["write"](tmp_path)
    made = sorted(file.name for file in tmp_path.iterdir())
    assert made == sorted(file.name for file in WIRE.iterdir() if file.suffix in (".bin", ".json"))
    for name in made:
        if name.endswith(".bin"):
            assert (tmp_path / name).read_bytes() == (WIRE / name).read_bytes(), name


def test_a_source_package_has_what_it_is_built_from(tmp_path: pathlib.Path) -> None:
    build = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--sdist",
        "--outdir",
        str(tmp_path),
    ]
    subprocess.run([*build, os.environ["EVERSHARD_PACKAGE"]], check=True, capture_output=True)
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as packed:
        names = {name.split("/", 1)[-1] for name in packed.getnames()}
    assert {
        "stubs.py",
        "build_backend.py",
        "setup.py",
        "protocol/v1/service.proto",
    } <= names


def test_values_come_out_of_golden_messages() -> None:
    event = _wire.recorded(event_pb2.RecordedEvent.FromString((WIRE / "RecordedEvent.bin").read_bytes()))
    assert (
        event.position,
        event.shard,
        str(event.aggregate),
        event.seq_nr,
        event.json(),
    ) == (300, 65_535, "order-1", 4, {"total": 42})
    assert event.occurred_at.isoformat() == "2026-01-31T12:00:00.123456+00:00" and (
        event.append_index,
        event.append_events,
    ) == (1, 3)
    extreme = _wire.recorded(event_pb2.RecordedEvent.FromString((WIRE / "RecordedEvent-extremes.bin").read_bytes()))
    assert (
        extreme.position == 2**64 - 1
        and extreme.occurred_at_us == -(2**63)
        and extreme.aggregate is None
        and extreme.payload == bytes(range(256))
    )
    with pytest.raises(OverflowError):
        _ = extreme.occurred_at
    refused = _scheduled.scheduled(
        scheduled_pb2.ScheduledAppend.FromString((WIRE / "ScheduledAppend-refused.bin").read_bytes())
    )
    assert refused.refusal is not None and (refused.refusal.actual, refused.due_us) == (4, 0)
    assert refused.append is not None and refused.append.events[1].id.int == 0
    erased = _scheduled.scheduled(
        scheduled_pb2.ScheduledAppend.FromString((WIRE / "ScheduledAppend-erased.bin").read_bytes())
    )
    assert erased.append is None and erased.due is None and erased.state == ScheduledState.CANCELLED
    stats = _administration.stats_of(service_pb2.StatsResponse.FromString((WIRE / "StatsResponse.bin").read_bytes()))
    assert (stats.shards, stats.memory_bytes, stats.details) == (16, 2**30, {"runs": 4})
    fork = _administration.stats_of(
        service_pb2.StatsResponse.FromString((WIRE / "StatsResponse-fork.bin").read_bytes())
    )
    assert fork.fork_id == "c0ffee"
