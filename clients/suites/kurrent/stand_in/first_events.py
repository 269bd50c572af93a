"""As first_events.cjs does, by Python's client, which is to be importable: first_events.py URI [CERTIFICATE]"""

import json
import pathlib
import sys

from kurrentdbclient import KurrentDBClient, NewEvent, StreamState

certificate = pathlib.Path(sys.argv[2]).read_text() if len(sys.argv) > 2 else None
client = KurrentDBClient(sys.argv[1], root_certificates=certificate)
for stream, events in json.loads(pathlib.Path(__file__).with_suffix(".json").read_text()).items():
    client.append_to_stream(stream, current_version=StreamState.ANY,
                            events=[NewEvent(type=type, data=json.dumps(data).encode()) for type, data in events])
client.close()
