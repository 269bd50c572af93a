// The wire's golden messages, which every client and the server share.

import { deepEqual, equal, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { fromBinary, fromJson, toBinary, toJson, type DescMessage, type JsonValue } from "@bufbuild/protobuf";

import { file_evershard_v1_documents } from "../src/gen/evershard/v1/documents_pb.js";
import { file_evershard_v1_event } from "../src/gen/evershard/v1/event_pb.js";
import { file_evershard_v1_projections } from "../src/gen/evershard/v1/projections_pb.js";
import { file_evershard_v1_scheduled } from "../src/gen/evershard/v1/scheduled_pb.js";
import { file_evershard_v1_service } from "../src/gen/evershard/v1/service_pb.js";
import { file_evershard_v1_store } from "../src/gen/evershard/v1/store_pb.js";
import { file_evershard_v1_tables } from "../src/gen/evershard/v1/tables_pb.js";
import { root } from "./server.js";

const files = [
  file_evershard_v1_event,
  file_evershard_v1_store,
  file_evershard_v1_service,
  file_evershard_v1_projections,
  file_evershard_v1_tables,
  file_evershard_v1_documents,
  file_evershard_v1_scheduled,
];
const messages = new Map<string, DescMessage>(
  files.flatMap((file) => file.messages.map((message) => [message.name, message])),
);
const folder = join(root, "tests/golden/wire");
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".bin"))
  .map((name) => name.slice(0, -4));

test("there are golden messages, each as bytes and as JSON", () => {
  ok(names.length >= 50, `${names.length}`);
  deepEqual(
    readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -5))
      .sort(),
    [...names].sort(),
  );
});

for (const name of names) {
  test(`golden ${name}`, () => {
    const schema = messages.get(name.split("-")[0]!);
    ok(schema, "a message of protocol/v1");
    const bytes = new Uint8Array(readFileSync(join(folder, `${name}.bin`)));
    const json = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as JsonValue;

    const message = fromBinary(schema, bytes);
    deepEqual(toJson(schema, message), json);
    equal(Buffer.from(toBinary(schema, message)).toString("hex"), Buffer.from(bytes).toString("hex"));
    equal(Buffer.from(toBinary(schema, fromJson(schema, json))).toString("hex"), Buffer.from(bytes).toString("hex"));
    ok(!message.$unknown?.length, "every field is known");
  });
}
