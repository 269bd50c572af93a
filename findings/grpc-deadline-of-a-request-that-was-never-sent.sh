#!/usr/bin/env bash
# A call over a connection that is accepted and then silent ends with DEADLINE_EXCEEDED in grpcio and in grpc-js, though
# not one byte of the request was sent: both wait for the server's SETTINGS frame first. The status is that of a call
# that the server has, and may have carried out. grpc-js says the difference in the text ("Waiting for LB pick");
# grpcio's text is "Deadline Exceeded" in both cases.
#
# Versions: PyPI grpcio 1.71.0, npm @grpc/grpc-js 1.13.4.
# Guess that was wrong: a call that found no working connection ends with UNAVAILABLE, and so DEADLINE_EXCEEDED means
# that the outcome is unknown.
# Output seen:
#   grpcio 1.71.0 silent: DEADLINE_EXCEEDED 'Deadline Exceeded', HEADERS frames sent: 0
#   grpcio 1.71.0 mute: DEADLINE_EXCEEDED 'Deadline Exceeded', HEADERS frames sent: 1
#   grpc-js 1.13.4 silent: 4, waits for a connection: true, HEADERS frames sent: 0
# Here: the clients wait for the connection themselves, and say `unavailable` where it never was, but for a call that
# begins just as the connection is tried once more: its outcome is unknown (RemoteRefusals.OnlyWhatMayHaveArrivedIsUnknown).
set -euo pipefail
folder=$(mktemp -d)
server=""
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet grpcio==1.71.0
mkdir node
(cd node && npm init -y >/dev/null && npm install --silent @grpc/grpc-js@1.13.4 >/dev/null)

# `silent` never says anything; `mute` says its SETTINGS, and answers no request. A line for each connection that ends.
cat >server.py <<'PYTHON'
import socket, sys, threading

HEADERS, SETTINGS_FRAME = 1, b"\0\0\0\4\0\0\0\0\0"
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)

def take(connection):
    if sys.argv[1] == "mute":
        connection.sendall(SETTINGS_FRAME)
    sent = b""
    try:
        while data := connection.recv(65536):
            sent += data
    except OSError:
        pass
    at, headers = 24, 0  # behind the preface
    while at + 9 <= len(sent):
        headers += sent[at + 3] == HEADERS
        at += 9 + int.from_bytes(sent[at:at + 3], "big")
    print(f"HEADERS frames sent: {headers}", flush=True)

while True:
    threading.Thread(target=take, args=(listener.accept()[0],), daemon=True).start()
PYTHON
cat >call.py <<'PYTHON'
import grpc, sys

channel = grpc.insecure_channel("127.0.0.1:" + sys.argv[1])
try:
    channel.unary_unary("/a.B/C")(b"x", timeout=2)
except grpc.RpcError as error:
    print(f"{error.code().name} {error.details()!r}", end="")
channel.close()
PYTHON
cat >node/call.mjs <<'JAVASCRIPT'
import grpc from "@grpc/grpc-js";

const client = new grpc.Client(`127.0.0.1:${process.argv[2]}`, grpc.credentials.createInsecure());
const bytes = (value) => value;
client.makeUnaryRequest("/a.B/C", bytes, bytes, Buffer.from("x"), new grpc.Metadata(), { deadline: Date.now() + 2_000 }, (error) => {
  process.stdout.write(`${error.code}, waits for a connection: ${error.details.includes("Waiting for LB pick")}`);
  client.close();
});
JAVASCRIPT

seen=""
try() { # NAME HOW COMMAND ...
  local name=$1 how=$2 port
  shift 2
  : >server.log
  python3 server.py "$how" >server.log &
  server=$!
  until [[ -s server.log ]]; do sleep 0.05; done
  port=$(head -1 server.log)
  local said
  said=$("$@" "$port")
  until (($(wc -l <server.log) > 1)); do sleep 0.05; done
  kill "$server"
  server=""
  seen+="$name $how: $said, $(sed -n 2p server.log)"$'\n'
}
try "grpcio 1.71.0" silent python/bin/python call.py
try "grpcio 1.71.0" mute python/bin/python call.py
try "grpc-js 1.13.4" silent node node/call.mjs
printf '%s' "$seen"
diff <(printf '%s' "$seen") - <<'SEEN'
grpcio 1.71.0 silent: DEADLINE_EXCEEDED 'Deadline Exceeded', HEADERS frames sent: 0
grpcio 1.71.0 mute: DEADLINE_EXCEEDED 'Deadline Exceeded', HEADERS frames sent: 1
grpc-js 1.13.4 silent: 4, waits for a connection: true, HEADERS frames sent: 0
SEEN
