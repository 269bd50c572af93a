"""A walk through Kurrent's own Python client. Usage: walk.py HOST:PORT"""

import sys
import uuid

from kurrentdbclient import KurrentDBClient, NewEvent, StreamState
from kurrentdbclient.exceptions import NotFoundError, StreamIsDeletedError, WrongCurrentVersionError

client = KurrentDBClient(uri=f"kurrentdb://{sys.argv[1]}?Tls=false")
stream = f"order-{uuid.uuid4()}"
events = [NewEvent(type="Placed", data=b'{"number":%d}' % number) for number in range(3)]
client.append_to_stream(stream, current_version=StreamState.NO_STREAM, events=events)
client.append_to_stream(stream, current_version=StreamState.NO_STREAM, events=events)  # the same again
try:
    client.append_to_stream(stream, current_version=StreamState.NO_STREAM, events=NewEvent(type="Late", data=b"{}"))
    raise SystemExit("a second beginning was taken")
except WrongCurrentVersionError:
    pass
read = client.get_stream(stream)
assert [event.id for event in read] == [event.id for event in events]
assert [event.stream_position for event in read] == [0, 1, 2]
assert [event.stream_position for event in client.get_stream(stream, backwards=True, limit=2)] == [2, 1]

with client.subscribe_to_all(commit_position=read[0].commit_position, filter_include=["Placed", "Live"]) as seen:
    taken = [next(seen), next(seen)]
    client.append_to_stream(stream, current_version=2, events=NewEvent(type="Live", data=b"{}"))
    taken.append(next(seen))
assert [event.type for event in taken] == ["Placed", "Placed", "Live"]

client.set_stream_metadata(stream, metadata={"$maxCount": 1}, current_version=StreamState.ANY)
assert len(client.get_stream(stream)) == 1
client.delete_stream(stream, current_version=3)
try:
    client.get_stream(stream)
    raise SystemExit("a deleted stream was read")
except NotFoundError:
    pass
client.append_to_stream(stream, current_version=StreamState.NO_STREAM, events=NewEvent(type="Again", data=b"{}"))
client.tombstone_stream(stream, current_version=StreamState.ANY)
try:
    client.get_stream(stream)
    raise SystemExit("a stream that is gone for good was read")
except StreamIsDeletedError:
    pass
client.close()
print("python: done")
