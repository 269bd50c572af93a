"""From a running UmaDB to Evershard, with ends in between; and what is acknowledged survives a kill."""

import base64
import json
import os
import pathlib
import subprocess
import threading
import time
import uuid

from umadb import Client, Event, TrackingInfo

from served import Evershard, UmaDb


def fill(client: Client, appends: int) -> None:
    again = uuid.uuid4()
    for i in range(appends):
        events = [Event("T%d" % (j % 7), b"x" * (j * 13 % 900), ["b:%d" % j, "a:%d" % i],
                        uuid=None if j % 5 == 0 else again if j == 7 else uuid.UUID(int=0) if j == 9 else uuid.uuid4(),
                        metadata={"z": "1", "a": 'é"\n'} if j % 3 else None) for j in range(100)]
        client.append(events, tracking_info=TrackingInfo("upstream", i + 1) if i % 2 else None)


def shown(client: Client) -> list[tuple[object, ...]]:
    return [(s.position, s.event.event_type, s.event.data, s.event.tags, s.event.uuid, s.event.metadata,
             s.tracking_info and (s.tracking_info.source, s.tracking_info.position)) for s in client.read()]


def test_import_goes_on_where_it_was_killed(tmp_path: pathlib.Path) -> None:
    program, data = os.environ["EVERSHARD_SERVER"], tmp_path / "data"
    with UmaDb(tmp_path / "umadb") as source:
        client = Client(f"http://{source.address}")
        fill(client, 150)
        there = shown(client)
        subprocess.run([program, "init", "--data", data, "--shards", "4"], check=True, capture_output=True)
        words = [program, "import", "--from", f"umadb://{source.address}", "--data", data, "--format", "json"]
        for after in (0.2, 0.4):
            killed = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(after)
            killed.kill()
            killed.wait()
        told = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        assert told["events_stored"] + told["events_known"] == len(there)
        assert told["source_events"] == told["same_events"] == len(there)
        assert told["source_hash"] == told["stored_hash"]
        again = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        assert again["events_stored"] == 0 and again["same_events"] == len(there)
    with Evershard(data) as server:
        client = Client(server.url)
        assert shown(client) == there
        assert client.get_tracking_info("upstream") == 150
        client.append([Event("after", b"", uuid=uuid.uuid4())])
        assert client.head() == len(there) + 1


def test_import_leaves_out_what_cannot_be_stored(tmp_path: pathlib.Path) -> None:
    program, data, left = os.environ["EVERSHARD_SERVER"], tmp_path / "data", tmp_path / "left.jsonl"
    with UmaDb(tmp_path / "umadb") as source:
        client = Client(f"http://{source.address}")
        good = [Event("T", b"%d" % i, ["t"]) for i in range(3)]
        for event in (good[0], Event("T", b"no tag", [""]), good[1], Event("", b"no type", ["t"]), good[2]):
            client.append([event])
        subprocess.run([program, "init", "--data", data, "--shards", "4"], check=True, capture_output=True)
        words = [program, "import", "--from", f"umadb://{source.address}", "--data", data, "--format", "json"]
        refused = subprocess.run(words, capture_output=True, text=True)
        assert refused.returncode != 0
        assert "the event at position 2" in refused.stderr
        for stored in (2, 0):  # the first is there
            told = json.loads(subprocess.run([*words, "--skip-refused", left], check=True, capture_output=True).stdout)
            assert (told["events_stored"], told["events_refused"], told["same_events"]) == (stored, 2, 3)
            assert told["source_hash"] == told["stored_hash"]
            lines = [json.loads(line) for line in left.read_text().splitlines()]
            assert [line["position"] for line in lines] == ["2", "4"]
            assert base64.b64decode(lines[0]["event"]["event"]["data"]) == b"no tag"
            assert all("cannot be stored here" in line["why"] for line in lines)
    with Evershard(data) as server:
        client = Client(server.url)  # what it reads ends with it
        assert [s.event.data for s in client.read()] == [event.data for event in good]


def test_nothing_acknowledged_is_lost(tmp_path: pathlib.Path) -> None:
    acknowledged: dict[int, str] = {}
    server = Evershard(tmp_path / "data")
    for _ in range(3):
        server.start()

        def load() -> None:
            client = Client(server.url)
            try:
                while True:
                    name = uuid.uuid4()
                    acknowledged[client.append([Event("T", b"x" * 100, ["t"], uuid=name)])] = str(name)
            except Exception:  # the server was killed
                pass

        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        server.kill()
        for thread in threads:
            thread.join()
    with server:
        client = Client(server.url)
        stored = {s.position: str(s.event.uuid) for s in client.read()}
    assert len(acknowledged) > 100
    assert {position: stored.get(position) for position in acknowledged} == acknowledged
    assert sorted(stored) == list(range(1, len(stored) + 1))
