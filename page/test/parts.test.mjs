// What the page is made of, without a browser; and whether dist/ is what the sources make.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "evershard-page-"));
after(() => rmSync(place, { recursive: true }));

const parts = ["json_source", "json_lines", "format", "rates", "sse_body"];
await build({
  absWorkingDir: root,
  entryPoints: parts.map((part) => `src/${part}.ts`),
  outdir: place,
  format: "esm",
  bundle: true,
  outExtension: { ".js": ".mjs" },
});
const [source, lines, format, { Rates }, { eventStream }] = await Promise.all(
  parts.map((part) => import(join(place, `${part}.mjs`))),
);

it("dist/ is what the sources make, byte for byte, and small", () => {
  const built = join(place, "dist");
  execFileSync(process.execPath, [join(root, "build.mjs"), built]);
  const files = readdirSync(built, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.path, entry.name).slice(built.length + 1))
    .sort();
  const kept = readdirSync(join(root, "dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.path, entry.name).slice(join(root, "dist").length + 1))
    .sort();
  assert.deepEqual(kept, files);
  for (const file of files)
    assert.ok(
      readFileSync(join(root, "dist", file)).equals(readFileSync(join(built, file))),
      `${file}: run npm run build`,
    );
  const bytes = files.reduce((sum, file) => sum + readFileSync(join(built, file)).length, 0);
  assert.ok(bytes < 175_000, `${bytes} bytes`);
});

it("the lock file names no place to download from", () => {
  assert.ok(!readFileSync(join(root, "package-lock.json"), "utf8").includes('"resolved"'));
});

it("says how far away a time is", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  for (const [utc, said] of [
    ["2026-01-31T12:00:00.400000Z", "now"],
    ["2026-01-31T12:00:59.000000Z", "in 59 s"],
    ["2026-01-31T13:59:00.000000Z", "in 1 h"],
    ["2030-01-31T12:00:00.000000Z", "in 1,461 d"],
    ["2026-01-31T11:55:00.000000Z", "5 min ago"],
    ["no time", ""],
  ])
    assert.equal(format.relative(utc, now), said);
});

describe("an answer", () => {
  const kept = new Set(["payload", "state"]);
  const plain = (value) => JSON.parse(JSON.stringify(value));

  it("is read like JSON where nothing is kept", () => {
    for (const text of [
      '{"a":[1,-2.5e3,"x\\"]}",null,true,{"b":{}}],"c":""}',
      " [ ] ",
      '"é\\u00e9\\\\"',
      '{"a" : {"b":[[],[{}]]} }',
    ])
      assert.deepEqual(plain(source.parse(text, new Set())), JSON.parse(text));
  });
  it("keeps what users stored as it was", () => {
    const payload = '{"b":12345678901234567890,"a":1.50,"b":["]}",{"payload":1}]}';
    const read = source.parse(
      `{"events":[{"position":1,"payload":${payload},"state":"removed"}],"payload":null}`,
      kept,
    );
    assert.equal(read.events[0].payload.text, payload);
    assert.equal(read.events[0].state.text, '"removed"');
    assert.equal(read.events[0].position, 1);
    assert.equal(read.payload.text, "null");
  });
  it("may be as deep as it likes where it is kept", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    assert.equal(source.parse(`{"payload":${deep}}`, kept).payload.text, deep);
    assert.equal(lines.layOut(deep, 1000, 100).cut, true);
  });
  it("is refused when it is no JSON", () => {
    for (const text of ["", "{", '{"a":1', "[1,]", '{"payload":"x}', "<html>", '{"a":1}x'])
      assert.throws(() => source.parse(text, kept), SyntaxError, text);
  });
  it("cannot reach the prototype", () => {
    assert.equal(source.parse('{"__proto__":{"polluted":1}}', kept).polluted, undefined);
    assert.equal({}.polluted, undefined);
  });
});

describe("stored JSON", () => {
  const laidOut = (json, chars = Infinity, count = Infinity) => {
    const { lines: all, cut } = lines.layOut(json, chars, count);
    return [
      all.map(({ depth, tokens }) => "  ".repeat(depth) + tokens.map(({ text }) => text).join("")).join("\n"),
      cut,
    ];
  };
  it("is laid out as JSON.stringify does", () => {
    for (const value of [
      { a: 1, b: [], c: { d: [1, { e: null }], f: 'x"y\\' } },
      [],
      {},
      "x",
      [[[1]]],
      1,
      null,
      [{}, {}],
    ])
      assert.deepEqual(laidOut(JSON.stringify(value)), [JSON.stringify(value, null, 2), false]);
  });
  it("tells keys, strings, numbers and words apart", () => {
    assert.deepEqual(
      lines
        .layOut('{"a":"b","c":-1e5,"d":true}', 99, 99)
        .lines.flatMap(({ tokens }) => tokens.filter(({ kind }) => kind !== "mark").map(({ kind }) => kind)),
      ["key", "string", "key", "number", "key", "word"],
    );
  });
  it("is cut at so many characters or lines, and says so", () => {
    assert.deepEqual(laidOut('{"a":"0123456789"}', 8), ['{\n  "a": "01…', true]);
    assert.equal(laidOut(JSON.stringify(Array(50).fill(1)), Infinity, 10)[1], true);
    assert.equal(laidOut(JSON.stringify(Array(50).fill(1)), Infinity, 10)[0].split("\n").length, 10);
  });
});

describe("figures", () => {
  it("are short and grouped", () => {
    assert.deepEqual([0, 7, 3.14, 999, 1234, 56_789, 2_345_678, null].map(format.rate), [
      "0",
      "7",
      "3.1",
      "999",
      "1,234",
      "56.8 k",
      "2.35 M",
      "–",
    ]);
    assert.deepEqual([0, 1023, 1536, 5e9].map(format.bytes), ["0 B", "1,023 B", "1.5 KiB", "4.7 GiB"]);
    assert.deepEqual([0, 412, 1240, 99_000, 2_100_000].map(format.micros), [
      "0 µs",
      "412 µs",
      "1.24 ms",
      "99.0 ms",
      "2.10 s",
    ]);
    assert.equal(format.grouped(1234567), "1,234,567");
    assert.equal(format.localTime("no time"), "no time");
  });
  it("show what cannot be seen", () => {
    assert.equal(format.visible("a\u202eb\u0000c\u200bd\u2066é\n"), "a\\u202eb\\u0000c\\u200bd\\u2066é\n");
  });
});

describe("rates", () => {
  const sample = (second, appends) => ({
    at: new Date(1e12 + second * 1000).toISOString(),
    appends,
    events: appends * 2,
    refused: 0,
    reads: 0,
    commit_micros: { p50: 5, p99: 9 },
    append_micros: null,
  });
  it("are differences of totals", () => {
    const rates = new Rates();
    [sample(0, 100), sample(1, 150), sample(3, 250)].forEach((one) => rates.add(one));
    assert.deepEqual(rates.columns.appends, [null, 50, 50]);
    assert.deepEqual(rates.columns.events, [null, 100, 100]);
    assert.deepEqual(rates.columns.commit_p99, [9, 9, 9]);
    assert.deepEqual(rates.columns.append_p50, [null, null, null]);
  });
  it("have a gap where the server began anew, and where nothing came for long", () => {
    const rates = new Rates();
    [sample(0, 100), sample(1, 150), sample(2, 10), sample(60, 500), sample(61, 510)].forEach((one) => rates.add(one));
    assert.deepEqual(rates.columns.appends, [null, 50, null, null, null, 10]);
  });
  it("take nothing twice, and forget what is older than five minutes", () => {
    const rates = new Rates();
    for (let i = 0; i < 1000; i += 1) rates.add(sample(i, i));
    rates.add(sample(500, 1));
    assert.ok(rates.at.length <= 301);
    assert.equal(rates.columns.appends.length, rates.at.length);
    assert.equal(rates.now("appends"), 1);
  });
});

it("server-sent events are read across any cut of the bytes", async () => {
  const text =
    ': beat\n\nevent: progress\ndata: {"done":1}\r\n\r\ndata: a\ndata: é\nid: 7\n\nevent: result\ndata: {}\n\n';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, 1000]) {
    const body = new ReadableStream({
      start(control) {
        for (let i = 0; i < bytes.length; i += size) control.enqueue(bytes.slice(i, i + size));
        control.close();
      },
    });
    const all = [];
    for await (const event of eventStream(body)) all.push(event);
    assert.deepEqual(
      all,
      [
        { event: "progress", data: '{"done":1}' },
        { event: "message", data: "a\né" },
        { event: "result", data: "{}" },
      ],
      `in pieces of ${size}`,
    );
  }
});
