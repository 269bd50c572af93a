// A walk through Kurrent's own Node client, as its README begins: connect, append, read, subscribe, delete.
// Usage: node walk.mjs HOST:PORT

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import client from "@kurrent/kurrentdb-client";

const { KurrentDBClient, jsonEvent, binaryEvent, START, END, BACKWARDS, FORWARDS, NO_STREAM, STREAM_EXISTS } = client;
const db = KurrentDBClient.connectionString(`kurrentdb://${process.argv[2]}?tls=false`);
const stream = `order-${randomUUID()}`;
const events = [1, 2, 3].map((number) => jsonEvent({ type: "Placed", data: { number }, metadata: { by: "walk" } }));

const collect = async (of) => {
  const all = [];
  for await (const event of of) all.push(event);
  return all;
};

const appended = await db.appendToStream(stream, events, { streamState: NO_STREAM });
assert.equal(appended.success, true);
assert.equal(appended.nextExpectedRevision, 2n);
const again = await db.appendToStream(stream, events, { streamState: NO_STREAM });
assert.equal(again.nextExpectedRevision, 2n, "the same events again are the same append");
await assert.rejects(db.appendToStream(stream, jsonEvent({ type: "Late", data: {} }), { streamState: NO_STREAM }), {
  type: "wrong-expected-version",
});

const read = await collect(db.readStream(stream, { fromRevision: START, direction: FORWARDS }));
assert.deepEqual(read.map(({ event }) => [event.id, event.type, event.data.number, event.metadata.by]),
  events.map(({ id, data }) => [id, "Placed", data.number, "walk"]));
const backwards = await collect(db.readStream(stream, { fromRevision: END, direction: BACKWARDS, maxCount: 2 }));
assert.deepEqual(backwards.map(({ event }) => event.revision), [2n, 1n]);
await db.appendToStream(stream, binaryEvent({ type: "Scanned", data: Buffer.from([0, 255]) }), { streamState: STREAM_EXISTS });
const all = await collect(db.readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 1 }));
assert.deepEqual(Buffer.from(all[0].event.data), Buffer.from([0, 255]));

// A subscription catches up, and goes on live.
const seen = [];
const subscription = db.subscribeToStream(stream, { fromRevision: START });
for await (const { event } of subscription) {
  seen.push(event.type);
  if (seen.length === 4) await db.appendToStream(stream, jsonEvent({ type: "Live", data: {} }));
  if (seen.at(-1) === "Live") break;
}
assert.equal(seen.length, 5);

const linked = await collect(db.readStream("$ce-order", { fromRevision: START, resolveLinkTos: true }));
assert.ok(linked.some(({ event, link }) => event.streamId === stream && link.streamId === "$ce-order"));

await db.setStreamMetadata(stream, { maxCount: 2 });
assert.equal((await collect(db.readStream(stream))).length, 2);
await db.deleteStream(stream);
await assert.rejects(collect(db.readStream(stream)), { type: "stream-not-found" });
await db.appendToStream(stream, jsonEvent({ type: "Again", data: {} }));
assert.deepEqual((await collect(db.readStream(stream))).map(({ event }) => event.revision), [5n]);
await db.tombstoneStream(stream);
await assert.rejects(collect(db.readStream(stream)), { type: "stream-deleted" });
await db.dispose();
console.log("node: done");
