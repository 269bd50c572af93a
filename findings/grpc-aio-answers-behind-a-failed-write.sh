#!/usr/bin/env bash
# A bidirectional call of grpc.aio: the server answers five of six requests and ends the call with a status other than
# OK; the client, which reads nothing meanwhile, writes a seventh. That write fails, as it should. From then on read()
# gives none of the five answers, though they have arrived, and the status is INTERNAL in place of the server's.
# Iterated over (`async for`), the same call gives all five and the server's status. Where the client writes nothing,
# read() gives all five, too.
#
# Versions: PyPI grpcio 1.71.0 and 1.85.3. The status alone is known (grpc/grpc issue 36066).
# Guess that was wrong: read() and `async for` are two spellings of one thing.
# Output seen, the same of both versions:
#   writes nothing, read(): 5 answers, UNAVAILABLE
#   writes, read(): 0 answers, INTERNAL
#   writes, async for: 5 answers, UNAVAILABLE
# Here: the Python client iterates, in append_many and in a group worker's stream, so that an append that was answered
# is not sent again and a settlement that was taken is known (test_what_was_answered_before_a_write_failed_is_not_sent_again).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >call.py <<'PYTHON'
import asyncio, threading
from concurrent import futures

import grpc, grpc.aio

async def call(address, ended, writes, iterates):
    async with grpc.aio.insecure_channel(address) as channel:
        stream = channel.stream_stream("/a.B/C")()
        for _ in range(6):
            await stream.write(b"")
        await asyncio.to_thread(ended.wait)
        await asyncio.sleep(1)
        if writes:
            try:
                await stream.write(b"")
                print("the seventh was written", end=" ")
            except grpc.aio.AioRpcError:
                pass
        answers, status = 0, "OK"
        try:
            if iterates:
                async for _ in stream:
                    answers += 1
            else:
                while await stream.read() is not grpc.aio.EOF:
                    answers += 1
        except grpc.aio.AioRpcError as failed:
            status = failed.code().name
        print("writes" if writes else "writes nothing", "async for" if iterates else "read()", sep=", ", end=": ")
        print(f"{answers} answers, {status}")

for writes, iterates in ((False, False), (True, False), (True, True)):
    ended = threading.Event()

    class Calls(grpc.GenericRpcHandler):
        def service(self, details):
            def five(requests, context):
                for answered, _ in enumerate(requests):
                    if answered == 5:
                        context.add_callback(ended.set)
                        context.abort(grpc.StatusCode.UNAVAILABLE, "the server is stopping")
                    yield b""
            return grpc.stream_stream_rpc_method_handler(five)

    server = grpc.server(futures.ThreadPoolExecutor(2), handlers=(Calls(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    asyncio.run(call(f"127.0.0.1:{port}", ended, writes, iterates))
    server.stop(0).wait()
PYTHON

for version in 1.71.0 1.85.3; do
  python3 -m venv "$version"
  "$version/bin/pip" install --quiet "grpcio==$version"
  echo "grpcio $version"
  "$version/bin/python" call.py | tee seen
  diff seen - <<'SEEN'
writes nothing, read(): 5 answers, UNAVAILABLE
writes, read(): 0 answers, INTERNAL
writes, async for: 5 answers, UNAVAILABLE
SEEN
done
