// Persistent subscriptions by Kurrent's own Node client: made, read, acknowledged, given back, parked, replayed, told of.
// Usage: node persistent.mjs HOST:PORT

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
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

const figures = async () => (await db.getPersistentSubscriptionToStreamInfo(stream, group)).stats;
const wait_until = async (what, is_so) => {
  for (let i = 0; i < 50; ++i) {
    if (is_so(await figures())) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`${what}: ${inspect(await figures())}`);
};

// The end of a subscription overtakes what was said just before: it ends when nothing is in flight any more.
const read = async (last, decide) => {
  const seen = [];
  const subscription = db.subscribeToPersistentSubscriptionToStream(stream, group);
  for await (const event of subscription) {
    seen.push(event.event.data.n);
    await decide(subscription, event);
    if (seen.at(-1) !== last) continue;
    await wait_until("all is settled", (stats) => Number(stats.totalInFlightMessages) === 0);
    break;
  }
  await subscription.unsubscribe?.();
  return seen;
};
const first = await read(4, (subscription, event) =>
  event.event.data.n === 3 ? subscription.nack(PARK, "not today", event) : subscription.ack(event));
assert.deepEqual(first, [1, 2, 3, 4]);

await wait_until("one is parked", (stats) => Number(stats.parkedMessageCount) === 1);
await db.replayParkedMessagesToStream(stream, group);
const again = await read(3, (subscription, event) => subscription.ack(event));
assert.deepEqual(again, [3]);

const all = await db.listAllPersistentSubscriptions();
assert.ok(all.some((each) => each.eventSource === stream && each.groupName === group));
await db.deletePersistentSubscriptionToStream(stream, group);
await assert.rejects(db.getPersistentSubscriptionToStreamInfo(stream, group), {
  type: "persistent-subscription-does-not-exist",
});
await db.dispose();
console.log("node, persistent subscriptions: done");
process.exit(0);
