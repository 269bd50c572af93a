// Walks of npm's `@eventstore/db-client`, the client's former name, and of `@event-driven-io/emmett-esdb` over it.
// Usage: node older.mjs HOST:PORT

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { getEventStoreDBEventStore } from "@event-driven-io/emmett-esdb";
import older from "@eventstore/db-client";

const { EventStoreDBClient, jsonEvent, BACKWARDS, END, NO_STREAM, START } = older;
const db = EventStoreDBClient.connectionString(`esdb://${process.argv[2]}?tls=false`);
const collect = async (of) => {
  const all = [];
  for await (const event of of) all.push(event);
  return all;
};

const stream = `booking-${randomUUID()}`;
const booked = [1, 2].map((seat) => jsonEvent({ type: "SeatReserved", data: { seat } }));
const { nextExpectedRevision } = await db.appendToStream(stream, booked, { expectedRevision: NO_STREAM });
assert.equal(nextExpectedRevision, 1n);
await assert.rejects(db.appendToStream(stream, jsonEvent({ type: "Late", data: {} }), { expectedRevision: 7n }));
assert.deepEqual((await collect(db.readStream(stream))).map(({ event }) => event.data.seat), [1, 2]);
const [last] = await collect(db.readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 1 }));
assert.equal(last.event.streamId, stream);
for await (const { event } of db.subscribeToStream(stream, { fromRevision: START })) {
  if (event.revision === 0n) await db.appendToStream(stream, jsonEvent({ type: "Live", data: {} }));
  if (event.type === "Live") break;
}

// emmett's store: a state out of events, and a conflict.
const store = getEventStoreDBEventStore(db);
const cart = `shoppingCart-${randomUUID()}`;
const appended = await store.appendToStream(cart, [{ type: "ProductAdded", data: { count: 3 } }],
  { expectedStreamVersion: "STREAM_DOES_NOT_EXIST" });
await store.appendToStream(cart, [{ type: "ProductAdded", data: { count: 4 } }],
  { expectedStreamVersion: appended.nextExpectedStreamVersion });
await assert.rejects(store.appendToStream(cart, [{ type: "ProductAdded", data: { count: 5 } }],
  { expectedStreamVersion: appended.nextExpectedStreamVersion }));
const { state, currentStreamVersion } = await store.aggregateStream(cart, {
  initialState: () => ({ count: 0 }),
  evolve: (sum, { data }) => ({ count: sum.count + data.count }),
});
assert.deepEqual([state.count, currentStreamVersion], [7, 1n]);
await db.dispose();
console.log("node: the client's former name, and emmett: done");
