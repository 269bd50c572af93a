// Three nodes of one store, killed in the middle: each acknowledged append is there once, nothing is skipped or doubled, everybody reads his own
// writes.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { connect, newId, type Append, type Appended } from "../src/index.js";
import { Cluster, onlyServe } from "./server.js";

test("nodes are killed under a client", onlyServe, async () => {
  await using cluster = await Cluster.start(3);
  await using store = connect(cluster.addresses, { timeoutMs: 120_000, unavailableTimeoutMs: 120_000 });
  await using other = connect([...cluster.addresses].reverse(), { timeoutMs: 120_000 });
  const acknowledged: { id: string; appended: Appended }[] = [];
  const followed: number[] = [];
  let over = false;
  const ended = new AbortController();

  const singly = async () => {
    for (let n = 0; !over; ++n) {
      const aggregate = `single-${n % 8}`;
      const id = newId();
      const seen = Math.floor(n / 8);
      acknowledged.push({
        id,
        appended: await store.append({
          events: [{ id, aggregate, type: "Placed", payload: { n } }],
          expect: { [aggregate]: seen === 0 ? "none" : seen },
        }),
      });
      equal((await store.readAggregate(aggregate).toArray()).length, seen + 1, "one's own writes");
    }
  };
  const many = async () => {
    const ids: string[] = [];
    async function* source(): AsyncGenerator<Append> {
      for (let n = 0; !over; ++n) {
        ids.push(newId());
        yield { events: [{ id: ids.at(-1)!, aggregate: `many-${n}`, type: "Placed" }] };
        await pause(1);
      }
    }
    let n = 0;
    for await (const { appended, error } of store.appendMany(source(), { inFlightMax: 16 })) {
      const id = ids[n++]!;
      // A node that cannot says so of each append: the same again, as the caller wants it.
      const stored =
        appended ??
        (error.retryable || error.code === "timeout"
          ? await store.append({ events: [{ id, aggregate: `many-${n - 1}`, type: "Placed" }] })
          : undefined);
      if (!stored) throw error;
      acknowledged.push({ id, appended: stored });
    }
  };
  const follow = async () => {
    for await (const { position } of store
      .subscribe(undefined, { after: 0, heartbeatMs: 500, signal: ended.signal })
      .events())
      followed.push(position);
  };
  const working = Promise.all([singly(), many()]);
  let failed: unknown;
  working.catch((error: unknown) => (failed = error));
  const following = follow();
  const more = async (count: number) => {
    const enough = acknowledged.length + count;
    for (
      const until = Date.now() + 90_000;
      acknowledged.length < enough && Date.now() < until && failed === undefined;

    )
      await pause(20);
  };

  for (const node of [0, 1]) {
    await more(30);
    cluster.killNode(node);
  }
  await more(30);
  over = true;
  await working;
  ok(acknowledged.length >= 90, `${acknowledged.length}`);

  other.see(store.seen);
  const stored = new Map((await other.read().toArray()).map(({ id, position }) => [id, position]));
  const head = await store.head();
  const all = Array.from({ length: head }, (_, i) => i + 1);
  deepEqual([...stored.values()], all);
  equal(stored.size, acknowledged.length);
  for (const { id, appended } of acknowledged) equal(stored.get(id), appended.firstPosition);
  for (const until = Date.now() + 90_000; (followed.at(-1) ?? 0) < head && Date.now() < until; ) await pause(20);
  ended.abort();
  await following;
  deepEqual(followed, all);
});
