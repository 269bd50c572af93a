// Persistent subscriptions by Kurrent's own Node client: made, read, acknowledged, given back, parked, replayed, told of.
// Usage: node persistent.mjs HOST:PORT

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import client from "@kurrent/kurrentdb-client";

const { KurrentDBClient, jsonEvent, START, PARK, persistentSubscriptionToStreamSettingsFromDefaults } = client;
const db = KurrentDBClient.connectionString(`kurrentdb://${process.argv[2]}?tls=false`);
const stream = `job-${randomUUID()}`;
const group = "workers";
const settings = persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: START });

await db.appendToStream(stream, [1, 2, 3, 4].map((n) => jsonEvent({ type: "Asked", data: { n } })));
await db.createPersistentSubscriptionToStream(stream, group, settings);
await assert.rejects(db.createPersistentSubscriptionToStream(stream, group, settings), {
  type: "persistent-subscription-exists",
});

// What is acknowledged last may come again: the end of a subscription can overtake it.
const read = async (last, decide) => {
  const seen = [];
  const subscription = db.subscribeToPersistentSubscriptionToStream(stream, group);
  for await (const event of subscription) {
    seen.push(event.event.data.n);
    await decide(subscription, event);
    if (seen.at(-1) === last) break;
  }
  await subscription.unsubscribe?.();
  return seen;
};
const first = await read(4, (subscription, event) =>
  event.event.data.n === 3 ? subscription.nack(PARK, "not today", event) : subscription.ack(event));
assert.deepEqual(first, [1, 2, 3, 4]);

let info;
for (let i = 0; i < 50; ++i) {
  info = await db.getPersistentSubscriptionToStreamInfo(stream, group);
  if (Number(info.stats.parkedMessageCount) === 1) break;
  await new Promise((done) => setTimeout(done, 100));
}
assert.equal(Number(info.stats.parkedMessageCount), 1);
await db.replayParkedMessagesToStream(stream, group);
const again = await read(3, (subscription, event) => subscription.ack(event));
assert.ok(again.every((n) => n === 3 || n === 4), `${again}`);

const all = await db.listAllPersistentSubscriptions();
assert.ok(all.some((each) => each.eventSource === stream && each.groupName === group));
await db.deletePersistentSubscriptionToStream(stream, group);
await assert.rejects(db.getPersistentSubscriptionToStreamInfo(stream, group), {
  type: "persistent-subscription-does-not-exist",
});
await db.dispose();
console.log("node, persistent subscriptions: done");
process.exit(0);
