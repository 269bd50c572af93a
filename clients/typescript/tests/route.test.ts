// The published vectors of docs/internals/sharding.md, and which door is asked next.

import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { DoorChoice, restMs } from "../src/door_choice.js";
import { uuidBytes } from "../src/ids.js";
import { shardOf, xxh64 } from "../src/route.js";
import { root } from "./server.js";

/** The rows of the tables: what is hashed, and what must come out. */
function vectors(): { name: string | Uint8Array; bytes: number; hash: string; shards: [number, number, number] }[] {
  const text = readFileSync(join(root, "docs/internals/sharding.md"), "utf8");
  return [...text.matchAll(/^\| (.+) \| (\d+) \| `([0-9a-f]{16})` \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map(
    ([, what, bytes, hash, of16, of1, of65535]) => {
      const quoted = [...what!.matchAll(/`([^`]+)`/g)].map(([, one]) => one!);
      let name: string | Uint8Array = quoted[0] ?? "";
      if (/^[0-9a-f]{8}-/.test(name)) name = uuidBytes(name, "id");
      else if (what!.startsWith("128 times")) name = "t".repeat(128) + "-" + "v".repeat(512);
      else if (what!.includes(" times ")) name += quoted[1]!.repeat(Number(/(\d+) times/.exec(what!)![1]));
      return { name, bytes: Number(bytes), hash: hash!, shards: [Number(of16), Number(of1), Number(of65535)] };
    },
  );
}

test("shards are those of the published vectors", () => {
  const all = vectors();
  equal(all.length, 22);
  for (const { name, bytes, hash, shards } of all) {
    const hashed = typeof name === "string" ? new TextEncoder().encode(name) : name;
    equal(hashed.length, bytes);
    equal(xxh64(hashed).toString(16).padStart(16, "0"), hash, `${name}`);
    deepEqual([shardOf(name, 16), shardOf(name, 1), shardOf(name, 65_535)], shards);
  }
});

test("one address is ours, of several the first that says so", () => {
  equal(new DoorChoice(["a:1"]).current, 0);
  const several = new DoorChoice(["a:1", "b:1", "c:1"]);
  deepEqual([several.current, several.toMeet(0)], [undefined, 0]);
  several.failed(0, 0, 100);
  equal(several.toMeet(0), 1);
  several.is(1, false);
  deepEqual([several.toMeet(0), several.toMeet(100)], [2, 0]);
  several.is(2, true);
  deepEqual([several.current, several.toMeet(0)], [2, undefined]);
});

test("it keeps to what works, and goes on to the next when that fails; many failures at once move it once", () => {
  const choice = new DoorChoice(["a:1", "b:1", "c:1"]);
  for (const number of [0, 1, 2]) choice.is(number, true);
  equal(choice.current, 0);
  for (let i = 0; i < 5; ++i) choice.failed(0, 0, 1_000);
  equal(choice.current, 1);
  choice.worked(1);
  equal(choice.current, 1);
  choice.failed(1, 10, 1_000);
  equal(choice.current, 2);
  choice.failed(2, 20, 1_000);
  equal(choice.current, 2, "the others rest");
  choice.failed(2, 1_005, 1_000);
  equal(choice.current, 0);
});

test("who serves another store is never asked", () => {
  const choice = new DoorChoice(["a:1", "b:1"]);
  choice.is(0, true);
  choice.is(1, false);
  choice.failed(0, 0, 10);
  deepEqual([choice.current, choice.toMeet(100), choice.allForeign], [0, undefined, false]);
});

test("a door rests from 10 to 500 ms, and for seconds when it has been gone for long", () => {
  for (let failures = 0; failures < 20; ++failures) {
    const most = Math.min(500, 10 * 2 ** failures) * (failures > 8 ? 10 : 1);
    const rests = Array.from({ length: 20 }, () => restMs(failures));
    ok(
      rests.every((ms) => ms >= most / 2 && ms <= most),
      `${failures}: ${rests}`,
    );
  }
});
