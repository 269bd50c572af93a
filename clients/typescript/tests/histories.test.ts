// Which answers the client takes, by the table that the clients of all languages share; and which fork they are of.

import { deepEqual, equal, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { CorruptionError, ForkChangedError } from "../src/errors.js";
import { forkKey, History, ledKey, ledOfKey, OtherHistoryError } from "../src/history.js";
import { root } from "./server.js";

const table = JSON.parse(readFileSync(join(root, "tests/clients/histories.json"), "utf8")) as {
  identities: Record<string, string>;
  cases: { of: string; answers: [string, string][] }[];
};

const spelled = (led: string): string =>
  Object.entries(table.identities).reduce(
    (text, [letter, identity]) => text.replaceAll(`:${letter}`, `:${identity}`),
    led,
  );

function whatBecomes(history: History, led: string): string {
  try {
    history.hearLed(spelled(led));
  } catch (error) {
    if (error instanceof OtherHistoryError) return error.message.includes("two histories") ? "other" : "older";
    if (error instanceof CorruptionError) return "malformed";
    throw error;
  }
  return "taken";
}

for (const { of, answers } of table.cases) {
  test(`answers are taken as the table says: ${of}`, () => {
    const history = new History(true);
    for (const [led, expected] of answers) equal(whatBecomes(history, led), expected, led);
  });
}

test("requests say what was heard", () => {
  const history = new History(true);
  deepEqual(history.metadata, {});
  history.hearFork("one");
  history.hearLed(spelled("2:x"));
  history.hearLed(spelled("3:y"));
  deepEqual(history.metadata, { [forkKey]: "one", [ledKey]: spelled("2:x,3:y") });
});

test("behind one address a door of another fork that others name says nothing", () => {
  const history = new History(false);
  history.hearFork("one");
  history.hearLed(spelled("3:x"));
  history.hearMet("copy", spelled("3:y"), false);
  deepEqual(history.metadata, { [ledKey]: spelled("3:x"), [ledOfKey]: "one" });
  history.hearMet("one", spelled("4:y"), false);
  deepEqual(history.metadata, { [ledKey]: spelled("3:x,4:y"), [ledOfKey]: "one" });
  history.hearMet("copy", spelled("3:y"), true);
  deepEqual(history.metadata, { [ledKey]: spelled("3:y"), [ledOfKey]: "copy" });
});

test("at several addresses the fork stays the first, at one it is the last", () => {
  const several = new History(true);
  several.hearFork("one");
  throws(() => several.hearFork("two"), ForkChangedError);
  equal(several.fork, "one");
  const alone = new History(false);
  alone.hearFork("one");
  alone.hearFork("two");
  equal(alone.fork, "two");
  deepEqual(alone.metadata, {});
  alone.hearLed(spelled("3:x"));
  deepEqual(alone.metadata, { [ledKey]: spelled("3:x"), [ledOfKey]: "two" });
  alone.hearFork("three"); // who led another fork says nothing of this one
  alone.hearLed(spelled("2:y"));
  deepEqual(alone.metadata, { [ledKey]: spelled("2:y"), [ledOfKey]: "three" });
});

test("what is not taken may be asked for again, and of a write nobody knows what came of it", () => {
  const history = new History(true);
  history.hearLed(spelled("2:x"));
  throws(
    () => history.hearLed(spelled("2:y")),
    (error: OtherHistoryError) => error.retryable && error.outcomeUnknown,
  );
});
