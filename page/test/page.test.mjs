// The page in a real browser: every view, by hand and by keyboard, with hostile data and a wire that breaks.

import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { harness, real, soon, tokenOf } from "./harness.mjs";

const run = Date.now().toString(36);
const type = { placed: `Placed.${run}`, shipped: `Shipped.${run}` };
const tag = `run:${run}`;
const aggregate = (n) => `test${run}-${n}`;
const hash = (path, params = {}) => `#/${path}?${new URLSearchParams(params)}`;
const views = [
  "#/",
  "#/events",
  "#/aggregates",
  "#/query",
  "#/condition",
  "#/scheduled",
  "#/scheduled?state=all",
  "#/processes",
  "#/timers",
  ...(real ? [] : ["#/cluster", "#/processes/trips", "#/processes/trips/parked", "#/processes/trips/instances"]),
  "#/settings",
];
const refusedLoad = /Failed to load resource/;

let h;
let first; // of the tests' own events: 70 in a row
before(async () => {
  h = await harness();
  const events = Array.from({ length: 70 }, (_, i) => ({
    aggregate: aggregate(i % 3),
    type: i % 7 === 0 ? type.placed : type.shipped,
    tags: [tag, `part:${i % 2}`],
    also: [aggregate("all")],
    payload: { number: i },
    metadata: { by: "test" },
    ...(i === 0 && { occurred_at: "2024-02-03T04:05:06.000000Z" }), // shown with its year
  }));
  first = (await h.append({ events })).first_position;
});
afterEach(() => h?.settle());
after(() => h?.close());

const positions = (page) =>
  page
    .locator("table.events .c-position a")
    .allTextContents()
    .then((all) => all.map(Number));
const heading = (page, name) => page.getByRole("heading", { level: 1, name }).waitFor();

describe("every view", () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1200, 400]) {
      it(`is whole in ${colorScheme}, ${width} wide`, async () => {
        const page = await h.tab(h.open, "", { colorScheme, width });
        const events = h.open.url && [
          `#/events/${first}`,
          `#/aggregates/${aggregate(0)}`,
          `#/aggregates/${aggregate(0)}/state`,
          `#/aggregates/${aggregate(0)}/snapshots`,
          "#/nowhere",
        ];
        for (const view of [...views, ...events]) {
          await page.goto(`${h.open.url}/${view}`);
          await page.locator("h1").waitFor();
          await page.waitForFunction(
            () => !document.querySelector("[aria-busy=true]") && !document.body.innerText.includes("Asking"),
          );
          const found = await page.evaluate(() => ({
            over: document.documentElement.scrollWidth - innerWidth,
            nameless: [...document.querySelectorAll("button, a, input, select, textarea, progress")]
              .filter(
                (e) =>
                  !(
                    e.textContent.trim() ||
                    e.ariaLabel ||
                    [...(e.labels ?? [])].some((label) => label.textContent.trim())
                  ),
              )
              .map((e) => e.outerHTML),
            alerts: [...document.querySelectorAll("[role=alert]")].map((e) => e.textContent),
            cut: [...document.querySelectorAll("td.c-time, .settings td")]
              .filter((e) => e.scrollWidth > e.clientWidth + 1)
              .map((e) => e.textContent),
          }));
          assert.deepEqual(found, { over: 0, nameless: [], alerts: [], cut: [] }, view);
        }
        await page.done();
      });
    }
  }

  it("has colours that can be read", async () => {
    const page = await h.tab(h.open);
    for (const theme of ["Light", "Dark"]) {
      await page.getByText(theme, { exact: true }).click();
      const colours = await page.evaluate(() =>
        Object.fromEntries(
          [
            "ground",
            "panel",
            "raised",
            "text",
            "soft",
            "dim",
            "accent",
            "on-accent",
            "bad",
            "bad-wash",
            "warn-wash",
            "edge",
          ].map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()]),
        ),
      );
      const light = (colour) =>
        [1, 3, 5]
          .map((i) => parseInt(colour.slice(i, i + 2), 16) / 255)
          .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const contrast = (a, b) => {
        const [low, high] = [light(colours[a]), light(colours[b])].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
      };
      for (const paper of ["ground", "panel", "raised"])
        for (const ink of ["text", "soft", "dim", "accent"])
          assert.ok(contrast(ink, paper) >= 4.5, `${theme}: ${ink} on ${paper}`);
      for (const [ink, paper] of [
        ["on-accent", "accent"],
        ["bad", "bad-wash"],
        ["text", "warn-wash"],
      ])
        assert.ok(contrast(ink, paper) >= 4.5, `${theme}: ${ink} on ${paper}`);
      assert.ok(contrast("edge", "panel") >= 3, `${theme}: edges of fields`);
    }
    await page.done();
  });

  it("remembers dark and light, and follows the system without a choice", async () => {
    const page = await h.tab(h.open, "", { colorScheme: "dark" });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), "dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    await page.getByText("Dark", { exact: true }).click();
    await page.reload();
    await heading(page, "Overview");
    assert.equal(await theme(), "dark");
    await page.done();
  });
});

describe("overview", () => {
  it("shows live figures in charts", async () => {
    const page = await h.tab(h.open);
    await page.getByText("Live", { exact: true }).waitFor();
    assert.equal(await page.locator(".chart canvas").count(), 6);
    await page.waitForFunction(() => /\d/.test(document.querySelector(".chart .now b").textContent));
    assert.match(
      await page.locator(".plot").first().getAttribute("aria-label"),
      /^Appends over the last minutes\. Now: appends [\d,.]+/,
    );
    const box = await page.locator(".plot").first().boundingBox();
    await page.mouse.move(box.x + box.width - 8, box.y + 40);
    await page.waitForFunction(() => /^\d\d:\d\d:\d\d$/.test(document.querySelector(".chart .when").textContent));
    await page.done();
  });

  it("has curves at once: what the server kept of the minutes before", async () => {
    await soon(async () =>
      assert.ok(
        Date.now() - new Date((await (await fetch(`${h.open.url}/api/v1/info`)).json()).started_at).getTime() > 5_000,
      ),
    );
    const opened = Date.now();
    const page = await h.tab(h.open);
    await page.getByText("Live", { exact: true }).waitFor();
    const plot = page.locator(".plot").first();
    const seconds = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
    await soon(async () => {
      const box = await plot.boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + 41);
      await page.mouse.move(box.x + 62, box.y + 40); // the oldest is the nearest
      const when = seconds(await page.locator(".chart .when").first().innerText());
      const age = (seconds(new Date(opened).toTimeString().slice(0, 8)) - when + 86_400) % 86_400;
      assert.ok(age >= 3 && age <= 660, `${age} s before the page was opened`);
    });
    await page.done();
  });

  it("shows labels whole, however long", async () => {
    const page = await h.tab(h.open, "", { expected: refusedLoad });
    const sample = (second, micros) => ({
      ...{
        at: new Date(Date.now() - 60_000 + second * 1000).toISOString(),
        head: 1,
        appends: second * 12_345_678,
        events: second,
        refused: 0,
        reads: 0,
      },
      ...{
        disk_bytes: 1,
        disk_free_bytes: 1,
        memory_bytes: 1,
        tail_events: 0,
        commit_micros: { p50: micros, p99: micros },
        append_micros: { p50: 1, p99: 1 },
      },
    });
    const body = [395_000, 250_000, 366_000]
      .map((micros, i) => `event: stats\ndata: ${JSON.stringify(sample(i, micros))}\n\n`)
      .join("");
    await page.route("**/api/v1/live/stats", (route) => route.fulfill({ contentType: "text/event-stream", body }));
    await page.addInitScript(() => {
      window.labels = {};
      const draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { actualBoundingBoxLeft, actualBoundingBoxRight } = this.measureText(text);
        const at = x + this.getTransform().e;
        window.labels[text] = at - actualBoundingBoxLeft >= 0 && at + actualBoundingBoxRight <= this.canvas.width;
        draw.call(this, text, x, y);
      };
    });
    await page.reload();
    await soon(async () => {
      const labels = await page.evaluate(() => window.labels);
      assert.ok(labels["400 ms"] !== undefined && labels["10 M"] !== undefined, Object.keys(labels).join(", "));
      assert.deepEqual(
        Object.keys(labels).filter((text) => !labels[text]),
        [],
      );
    });
    await page.done();
  });

  it("flushes, verifies with progress, goes on while one looks elsewhere, and can be stopped", async () => {
    const page = await h.tab(h.open);
    await page.getByRole("button", { name: "Flush" }).click();
    await page.locator(".work", { hasText: "Flush" }).getByText(/^Done/).waitFor();
    await page.getByRole("button", { name: "Verify" }).click();
    if (!real) {
      await page.getByRole("progressbar", { name: "Verify, progress" }).waitFor();
      await page.waitForFunction(() => document.querySelector("progress")?.value > 0);
      await page.getByRole("link", { name: "Settings" }).click();
      await heading(page, "Settings");
      await page.getByRole("link", { name: "Overview" }).click();
    }
    await page.getByText(/^Sound: [\d,]+ events/).waitFor();
    if (!real) {
      await page.getByRole("button", { name: "Vacuum" }).click();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("Stopped before it was done.").waitFor();
    }
    await page.getByRole("button", { name: "Vacuum" }).click();
    await page.getByText(/^Done: .* before, .* now\.$/).waitFor();
    await page.done();
  });
});

describe("events", () => {
  it("pages through all of a query and back, each event once", async () => {
    const page = await h.tab(h.open, hash("events", { tag }));
    await page.getByText(/^50 events, /).waitFor();
    const newest = await positions(page);
    assert.deepEqual(
      newest,
      Array.from({ length: 50 }, (_, i) => first + 69 - i),
    );
    await page.getByRole("link", { name: "Older" }).click();
    await page.getByText(/^20 events, /).waitFor();
    assert.deepEqual(
      await positions(page),
      Array.from({ length: 20 }, (_, i) => first + 19 - i),
    );
    assert.equal(await page.getByRole("link", { name: "Older" }).count(), 0);
    await page.getByRole("link", { name: "Newer" }).click();
    await page.getByText(/^50 events, /).waitFor();
    assert.deepEqual(await positions(page), newest);
    await page.getByRole("link", { name: "Oldest" }).click();
    await page.waitForFunction(
      (at) => document.querySelector("table.events tbody tr:last-child .c-position")?.textContent === String(at),
      first,
    );
    assert.deepEqual(
      await positions(page),
      Array.from({ length: 50 }, (_, i) => first + 49 - i),
    );
    await page.done();
  });

  it("filters by aggregate, type and tag, jumps to a position, and opens an event in place", async () => {
    const page = await h.tab(h.open, "#/events");
    await page.getByLabel("Aggregate", { exact: true }).fill(aggregate(1));
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText(/^23 events, /).waitFor();
    await page.getByLabel("Types").fill(type.placed);
    await page.keyboard.press("Enter");
    await page.getByText(/^3 events, /).waitFor();
    await page.getByLabel("Tags").fill("part:0");
    await page.keyboard.press("Enter");
    await page.getByText(/^1 event, /).waitFor();
    assert.deepEqual(await positions(page), [first + 28]);
    await page.getByRole("button", { name: "Remove part:0" }).click();
    await page.getByText(/^3 events, /).waitFor();
    await page.getByRole("link", { name: "Clear" }).click();
    await page.getByLabel("From position").fill(String(first + 5));
    await page.getByRole("button", { name: "Go" }).click();
    await page.waitForFunction(
      (at) => document.querySelector("table.events .c-position a")?.textContent === String(at),
      first + 5,
    );
    await page.getByRole("button", { name: `Event ${first + 5}: all of it` }).click();
    const inside = page.locator("tr.inside");
    await inside.getByText('"number"').waitFor();
    assert.equal(await inside.getByLabel("the payload", { exact: true }).innerText(), '{\n  "number": 5\n}\n');
    await inside.getByRole("link", { name: tag }).click();
    await page.getByText(/^50 events, /).waitFor();
    await page.done();
  });

  it("follows live: what comes while the wire is cut is there afterwards, once", async () => {
    const live = `live:${run}`;
    const page = await h.tab(h.open, hash("events", { tag: live }), { expected: refusedLoad });
    await page.getByText("No event matches.").waitFor();
    await page.getByRole("switch", { name: "Live" }).check();
    await page.getByText("Nothing yet.").waitFor();
    await page.getByText(/^Live: 0 new/).waitFor();
    const one = await h.append({ type: type.shipped, tags: [live] });
    await h.append({ type: type.shipped, tags: ["something:else"] });
    await page.waitForFunction(
      (at) => document.querySelector("table.events .c-position a")?.textContent === String(at),
      one.first_position,
    );
    const wire = h.open;
    await wire.cut();
    await page.getByText(/^Connection lost after position/).waitFor();
    await page.getByRole("alert").getByText("The connection to the server is lost.").waitFor();
    await wire.mend();
    const two = await h.append({
      events: [
        { type: type.shipped, tags: [live] },
        { type: type.shipped, tags: [live] },
      ],
    });
    await page.getByText(/^Live: 3 new/).waitFor({ timeout: 60_000 });
    assert.deepEqual(await positions(page), [two.last_position, two.first_position, one.first_position]);
    await page.waitForFunction(() => !document.querySelector("[role=alert]"), undefined, { timeout: 60_000 });
    await page.done();
  });

  it("shows payloads as they were stored: numbers, order, repeated keys", async () => {
    const page = await h.tab(h.open);
    const stored =
      '{"position":7,"shard":1,"offset":2,"id":"x","type":"T","payload":{"b":12345678901234567890,"1":1.50,"b":[],"t":"\\u00e9"},"occurred_at":"2026-01-31T12:00:00.000001Z"}';
    await page.route("**/api/v1/events/7", (route) => route.fulfill({ contentType: "application/json", body: stored }));
    await page.goto(`${h.open.url}/#/events/7`);
    assert.equal(
      await page.getByLabel("the payload", { exact: true }).innerText(),
      '{\n  "b": 12345678901234567890,\n  "1": 1.50,\n  "b": [],\n  "t": "\\u00e9"\n}\n',
    );
    assert.equal(await page.locator("time").getAttribute("title"), "2026-01-31T12:00:00.000001Z (UTC, as stored)");
    await page.done();
  });

  it("cuts big payloads, and shows all when asked", async () => {
    const { first_position: at } = await h.append({
      type: type.shipped,
      payload: { list: Array.from({ length: 3000 }, (_, i) => `entry ${i}`) },
    });
    const page = await h.tab(h.open, `#/events/${at}`);
    const text = page.getByLabel("the payload", { exact: true });
    await text.waitFor();
    assert.ok(!(await text.innerText()).includes("entry 2999"));
    await page.getByRole("button", { name: /^Show all/ }).click();
    assert.ok((await text.innerText()).includes('"entry 2999"'));
    await page.done();
  });

  it("says what is wrong: no such position, no position at all", async () => {
    const page = await h.tab(h.open, "#/events/999999999", { expected: refusedLoad });
    await page.getByRole("alert").getByText("not_found").waitFor();
    await page.goto(`${h.open.url}/#/events/seven`);
    await page.getByText("“seven” is no position").waitFor();
    await page.done();
  });
});

describe("aggregates", () => {
  it("lists a type, and opens a stream from a number", async () => {
    const page = await h.tab(h.open, "#/aggregates");
    await page.getByLabel("Type", { exact: true }).fill(`test${run}`);
    await page.keyboard.press("Enter");
    await page.getByText("3 aggregates").waitFor();
    await page.getByRole("link", { name: aggregate(2) }).click();
    await page.getByText("Numbers 1 to 23 of 23").waitFor();
    await page.getByRole("link", { name: "From the newest" }).click();
    await page.waitForFunction(() => document.querySelector("table.events .c-aggregate .num")?.textContent === "#23");
    await page.goto(`${h.open.url}/${hash(`aggregates/${aggregate(2)}`, { from: 20 })}`);
    await page.getByText("Numbers 20 to 23 of 23").waitFor();
    await page.done();
  });

  it("shows a state, at any version, and what lies behind the snapshot", async () => {
    const page = await h.tab(h.open, `#/aggregates/${aggregate(0)}/state`);
    await page.getByText("No snapshot at or before this version.").waitFor();
    const id = `kept${run}-1`;
    await h.append({
      events: Array.from({ length: 7 }, (_, i) => ({ aggregate: id, type: type.shipped, payload: { number: i + 1 } })),
    });
    for (const version of [3, 5]) await h.snapshot({ aggregate: id, version, payload: { open: true, lines: version } });
    await page.goto(`${h.open.url}/#/aggregates/${id}`);
    await page.getByRole("link", { name: "Snapshots" }).click();
    await soon(async () => assert.equal(await page.locator("summary").count(), 3)); // two that are retained, and the latest
    await page.locator("summary").last().click();
    await page.locator("details[open]").getByText('"open"').waitFor();
    await page.locator("details[open]").getByRole("link", { name: "The state at version 3" }).click();
    await page.getByText("State of version 3").waitFor();
    assert.match(await page.getByLabel("the state", { exact: true }).innerText(), /"lines": 3/);
    await page.goto(`${h.open.url}/#/aggregates/${id}/state?version=2`);
    await page.getByText("No snapshot at or before this version.").waitFor();
    await page.getByLabel("Version", { exact: true }).fill("6");
    await page.getByText("State of version 5").waitFor();
    assert.match(await page.getByLabel("the state", { exact: true }).innerText(), /"lines": 5/);
    await page.locator("table.events").getByText("#6").waitFor();
    assert.equal(await page.locator("table.events .c-position a").count(), 1);
    await page.done();
  });

  it("says so where there is none, with what to do", async () => {
    const page = await h.tab(h.open, "#/aggregates/nobody-1", { expected: refusedLoad });
    await page.getByRole("alert").getByText("not_found").waitFor();
    await page.getByText("evershard append --server").waitFor();
    await page.done();
  });
});

describe("query and condition", () => {
  it("builds a query as items and as JSON, each following the other, and shows matches and cost", async () => {
    const page = await h.tab(h.open, "#/query");
    const json = page.getByLabel("The same as JSON");
    assert.ok(await page.getByRole("button", { name: "Run", exact: true }).isDisabled());
    await page.getByLabel("Types").fill(type.placed);
    await page.keyboard.press("Enter");
    await soon(async () =>
      assert.deepEqual(JSON.parse(await json.inputValue()), { items: [{ types: [type.placed] }] }),
    );
    await json.fill(
      JSON.stringify({
        items: [
          { types: [type.placed], tags: [tag] },
          { concerning: [aggregate(0)], tags: ["part:1"] },
        ],
      }),
    );
    await page.getByRole("group", { name: "or item 2" }).getByText(aggregate(0)).waitFor();
    await json.fill('{"items":[{"types":"x"}]}');
    await page.getByText("items[0].types must be a list of strings").waitFor();
    await json.fill(
      JSON.stringify({
        items: [
          { types: [type.placed], tags: [tag] },
          { concerning: [aggregate(0)], tags: ["part:1"] },
        ],
      }),
    );
    await page.getByLabel("Limit").fill("5");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("matches, and there are more").waitFor();
    await page.getByText(/^in .*(µs|ms|s) in the server$/).waitFor();
    const expected = Array.from({ length: 70 }, (_, i) => i)
      .filter((i) => i % 7 === 0 || (i % 3 === 0 && i % 2 === 1))
      .map((i) => first + i);
    assert.deepEqual(await positions(page), expected.slice(0, 5));
    await page.getByRole("link", { name: "Next page" }).click();
    await page.waitForFunction(
      (at) => document.querySelector("table.events .c-position a")?.textContent === String(at),
      expected[5],
    );
    assert.deepEqual(await positions(page), expected.slice(5, 10));
    await page.done();
  });

  it("shows what the server says of a query", async () => {
    const page = await h.tab(h.open, hash("query", { q: '{"items":[{"types":[""]},{}]}' }), { expected: refusedLoad });
    await page
      .getByRole("alert")
      .getByText(/^invalid_(query|argument)$/)
      .waitFor();
    await page.done();
  });

  it("says whether a condition holds, or what stands against it", async () => {
    const page = await h.tab(h.open, "#/condition");
    await page.getByLabel("Tags").fill(tag);
    await page.getByLabel("After position").fill(String(first + 9));
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText(`the event at position ${(first + 10).toLocaleString("en-US")} matches`).waitFor();
    assert.deepEqual(await positions(page), [first + 10]);
    await page.getByRole("button", { name: /^The head/ }).click();
    await page.getByRole("button", { name: "Test" }).click();
    await page.locator(".verdict").getByText("Holds").waitFor();
    await page.done();
  });
});

describe("the cluster", { skip: real ? "the real server is one process" : false }, () => {
  it("shows nodes, sets with their followers' lag, who learns, what is wrong, and what happened", async () => {
    const page = await h.tab(h.open);
    await page.getByRole("link", { name: "Cluster" }).click();
    await heading(page, "Cluster");
    const text = (name) => page.getByRole("table", { name, exact: true }).innerText();
    const nodes = await soon(() => text("Nodes"));
    assert.match(nodes, /3\s+down/);
    assert.match(nodes, /1 shard, 2,000 of 8,000 events, about 13 s left/);
    const sets = await text("Sets of replicas");
    assert.match(sets, /1 2 3/);
    assert.match(sets, /2: 0 events, 0 ms; 3: down, 1,204 events, 2,950 ms/);
    assert.match(sets, /1 of 2 up, 2 needed/);
    await page.getByText("No quorum of 1 shard: 1 of its 2 replicas are up, appends need 2: start node 3").waitFor();
    await page.getByText("The clock of node 2 is 3,200 ms ahead of the coordinator’s.").waitFor();
    assert.match(await text("Shards that are not well"), /15\s+3\s+no-quorum\s+4,100/);
    const happened = await text("What happened");
    assert.match(happened, /node 3 did not answer\s+3\s+1\s+0–3, 7\s+2,150/);
    assert.ok(happened.indexOf("node 3 did not answer") < happened.indexOf("node 2 was drained"), "the newest first");
    await page.getByText("evershard cluster log --server").waitFor();
    await page.done();
  });

  it("is asked again by itself", async () => {
    const page = await h.tab(h.open, "#/cluster");
    await page.getByRole("table", { name: "Nodes", exact: true }).waitFor();
    await page.waitForRequest((request) => request.url().endsWith("/api/v1/cluster"));
    await page.done();
  });

  it("is not shown where the store is one process", async () => {
    const page = await h.tab(h.empty);
    await heading(page, "Overview");
    await page.getByRole("link", { name: "Settings" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Cluster" }).count(), 0);
    await page.done();
  });
});

/// Lists of three, so that few rows are pages.
const inThrees = (page, path) =>
  page.route(`**/api/v1/${path}?*`, (route) =>
    route.continue({ url: route.request().url().replace("limit=100", "limit=3") }),
  );

it("pages through aggregates of a type and back", async () => {
  const kind = `zz${run}`;
  await h.append({ events: [1, 2, 3, 4].map((n) => ({ aggregate: `${kind}-${n}`, type: type.shipped })) });
  const page = await h.tab(h.open);
  await inThrees(page, "aggregates");
  await page.goto(`${h.open.url}/${hash("aggregates", { type: kind })}`);
  await page.getByText("3 aggregates, and more").waitFor();
  await page.getByRole("link", { name: "Next" }).click();
  await page.getByText(/^1 aggregate$/).waitFor();
  await page.getByRole("link", { name: "Previous" }).click();
  await page.getByText("3 aggregates, and more").waitFor();
  await page.done();
});

it("lists the store's own aggregates only where they are asked for", async () => {
  await h.schedule({
    id: `own-${run}`,
    after: "1h",
    append: { events: [{ aggregate: aggregate(1), type: type.shipped }] },
  });
  const page = await h.tab(h.open, "#/aggregates");
  const table = page.getByRole("table", { name: "Aggregates" });
  await table.waitFor();
  assert.equal(await table.getByRole("link", { name: /^\$/ }).count(), 0);
  await page.getByLabel("The store's own too").check();
  await table.getByRole("link", { name: "$schedule-" }).first().waitFor();
  await page.done();
});

describe("scheduled", () => {
  const later = `Later.${run}`;
  const events = (n) => [{ aggregate: aggregate(n), type: later, payload: { number: n } }];
  const row = (page, id) => page.getByRole("row").filter({ hasText: id });

  it("shows those that wait, with when, what, and what they depend on", async () => {
    const id = `waits-${run}`;
    const fail_if = [{ query: { items: [{ tags: [tag] }] }, after: first }];
    const expect = [
      { aggregate: aggregate(1), version: 4711 },
      { aggregate: aggregate("new"), version: "none" },
    ];
    const more = { aggregate: aggregate("more"), type: `${later}.more` };
    await h.schedule({ id, after: "2h", append: { events: [...events(1), more], expect, fail_if } });
    const page = await h.tab(h.open, "#/scheduled");
    const shown = row(page, id);
    await shown.getByText(/^in 1 h$/).waitFor();
    const text = (await shown.innerText()).replace(/\s+/g, " ");
    for (const part of [later, aggregate(1), `${later}.more`, aggregate("more"), "is at version 4,711", "is not there"])
      assert.ok(text.includes(part), `${part} in ${text}`);
    await shown.getByRole("button", { name: `${id}: all of it` }).click();
    await page.locator("tr.inside").getByText('"number"').waitFor();
    await page.locator("tr.inside").getByText("at position").waitFor();
    await shown.getByRole("link", { name: "query" }).click();
    await heading(page, "Condition");
    await page.getByRole("button", { name: `Remove ${tag}` }).waitFor();
    assert.equal(await page.getByLabel("After position").inputValue(), String(first));
    await page.done();
  });

  it("shows all with what became of them", async () => {
    const id = (name) => `${name}-${run}`;
    const two = [...events("two"), ...events("two")];
    await h.schedule({ id: id("made"), after: "0s", append: { events: two } });
    const expect = [{ aggregate: aggregate(1), version: 4711 }];
    await h.schedule({ id: id("refused"), after: "0s", append: { events: events(1), expect } });
    await h.schedule({ id: id("waiting"), after: "1h", append: { events: events(1) } });
    await h.schedule({ id: id("cancelled"), after: "1h", append: { events: events(1) } });
    await h.cancelScheduled(id("cancelled"));
    const page = await h.tab(h.open, "#/scheduled");
    await row(page, id("waiting")).waitFor();
    assert.equal(await row(page, id("cancelled")).count(), 0);
    await page.getByRole("link", { name: "All", exact: true }).click();
    await row(page, id("refused")).getByText("version_conflict").waitFor();
    const reason = await row(page, id("refused")).innerText();
    assert.ok(reason.includes(aggregate(1)) && reason.includes("4711"), reason);
    await row(page, id("cancelled")).getByRole("cell", { name: "cancelled", exact: true }).waitFor();
    await row(page, id("waiting")).getByRole("cell", { name: "waits", exact: true }).waitFor();
    const places = await row(page, id("made")).getByText("stored at").getByRole("link").allTextContents();
    assert.equal(Number(places[1]), Number(places[0]) + 1);
    await row(page, id("made")).getByRole("link", { name: places[1], exact: true }).click();
    await heading(page, `Event ${places[1]}`);
    await page.getByText('"two"').waitFor();
    await page.done();
  });

  it("cancels one when that is confirmed, and says so", async () => {
    const id = `to cancel/${run}`;
    await h.schedule({ id, after: "1h", append: { events: events(1) } });
    const page = await h.tab(h.open, "#/scheduled");
    await page.getByRole("button", { name: `Cancel ${id}` }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    await page.waitForFunction(() => !document.querySelector("dialog"));
    await page.getByRole("button", { name: `Cancel ${id}` }).click();
    await page.getByRole("dialog", { name: "Cancel a scheduled append" }).getByText(id).waitFor();
    await page.getByRole("button", { name: "Cancel it" }).click();
    await page.getByText(`${id} was cancelled.`).waitFor();
    await soon(async () => assert.equal(await page.getByRole("button", { name: `Cancel ${id}` }).count(), 0));
    const { state } = await (await fetch(`${h.open.url}/api/v1/scheduled/${encodeURIComponent(id)}`)).json();
    assert.equal(state, "cancelled");
    await page.done();
  });

  it("says why one cannot be cancelled, and why there is no list", async () => {
    const id = `too late ${run}`;
    const append = { events: events(1) };
    await h.schedule({ id, after: "1h", append });
    const page = await h.tab(h.open, "#/scheduled", { expected: refusedLoad });
    await page.getByRole("button", { name: `Cancel ${id}` }).click();
    await h.schedule({ id, after: "0s", append, replace: true });
    await soon(async () => {
      const { state } = await (await fetch(`${h.open.url}/api/v1/scheduled/${encodeURIComponent(id)}`)).json();
      assert.equal(state, "appended");
    });
    await page.getByRole("button", { name: "Cancel it" }).click();
    await page.getByRole("dialog").getByText("condition_failed").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await soon(async () => assert.equal(await page.getByRole("button", { name: `Cancel ${id}` }).count(), 0));
    const error = { code: "unavailable", message: "this server offers no scheduled appends" };
    await page.route("**/api/v1/scheduled?*", (route) => route.fulfill({ status: 503, json: { error } }));
    await page.reload();
    await page.getByRole("alert").getByText(error.message).waitFor();
    await page.unroute("**/api/v1/scheduled?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("table", { name: "Scheduled appends" }).waitFor();
    await page.done();
  });

  it("pages through all and back, each once", async () => {
    const ids = Array.from({ length: 7 }, (_, n) => `page-${run}-${n}`);
    for (const id of ids) await h.schedule({ id, after: "1d", append: { events: events(1) } });
    const page = await h.tab(h.open);
    await inThrees(page, "scheduled");
    await page.goto(`${h.open.url}/#/scheduled`);
    const shown = () => page.locator("table.scheduled tbody tr td:nth-child(2)").allInnerTexts();
    await page.getByText("3 appends, and more").waitFor();
    const pages = [await shown()];
    for (const next = page.getByRole("link", { name: "Next" }); (await next.count()) > 0; ) {
      await next.click();
      await soon(async () => {
        const now = await shown();
        assert.notDeepEqual(now, pages.at(-1));
        pages.push(now);
      });
    }
    const all = pages.flat();
    assert.equal(new Set(all).size, all.length);
    for (const id of ids) assert.ok(all.includes(id), `${id} in ${all}`);
    for (const before of pages.slice(0, -1).reverse()) {
      await page.getByRole("link", { name: "Previous" }).click();
      await soon(async () => assert.deepEqual(await shown(), before));
    }
    await page.done();
  });
});

const shownAs = (page, name) => page.getByRole("table", { name, exact: true });

describe("processes", { skip: real ? "none runs beside the real server" : false }, () => {
  /// A process of the test's own, that others do not change.
  const added = (name, more) => h.invented.processes.add(`${name}${run}`, { runs_at: "shop-2:4711", ...more });
  const failure = (instance, item, more) => ({ instance, item, type: "hotel.Book", attempts: 3, why: "no", ...more });
  const confirm = async (page, title, yes) => {
    await page.getByRole("dialog", { name: title, exact: true }).waitFor();
    await page.getByRole("button", { name: yes, exact: true }).click();
  };

  it("shows all: how each is, how far, what fails, where it runs", async () => {
    const page = await h.tab(h.open);
    await page.getByRole("link", { name: "Processes" }).click();
    await heading(page, "Processes");
    const text = await soon(() => shownAs(page, "Processes").innerText());
    assert.match(text, /trips\s+failing\s+41\s+3\s+2\s+shop-2:4711\s+hotel-grand: its shard has no writer/);
    assert.match(text, /invoices\s+runs\s+0/);
    assert.match(text, /mails\s+nobody runs it\s+7/);
    assert.match(text, /reminders\s+stopped\s+120/);
    assert.match(text, /returns\s+begins\s+0\s+0\s+0\s+not known/);
    await page.waitForRequest((request) => request.url().endsWith("/api/v1/processes"));
    await page.getByRole("link", { name: "trips" }).click();
    await heading(page, "trips");
    await page.done();
  });

  it("shows one: figures, what fails and why, what is stopped, what was given up", async () => {
    await h.append({ aggregate: "trips-rome", type: `Booked.${run}` });
    const page = await h.tab(h.open, "#/processes/trips");
    await page.getByText("Trouble: hotel-grand: its shard has no writer").waitFor();
    const figures = (await page.locator(".tiles").innerText()).replace(/\s+/g, " ");
    for (const part of ["Lag 41", "Waiting 3 2 failing", "Events 48,112 96 failed tries", "Effects 3,140 2 given up"])
      assert.ok(figures.includes(part), `${part} in ${figures}`);
    const fails = await shownAs(page, "What fails").innerText();
    assert.match(fails, /rome\s+command\/23\/0\s+hotel\.Book\s+7\s+aggregate "hotel-grand" cannot be reached/);
    assert.match(fails, /bern\s+event\/17\s+OrderPlaced\s+2\s+the handler threw: no price/);
    await shownAs(page, "Stopped instances").getByText("oslo").waitFor();
    await page.getByRole("link", { name: "Given up" }).click();
    const parked = await soon(() => shownAs(page, "Effects that were given up").innerText());
    assert.match(parked, /lima\s+effect\/21\/0\s+mail\.Send\s+\S+ \S+\s+503 from mail\.example/);
    await page.getByRole("link", { name: "effect/21/0" }).click();
    await heading(page, "Event 21");
    await page.goto(`${h.open.url}/#/processes/trips`);
    await page.getByRole("link", { name: "rome" }).click();
    await heading(page, "trips-rome");
    await page.done();
  });

  it("stops one and resumes it, each when that is confirmed", async () => {
    const { info } = added("stopped");
    const page = await h.tab(h.open, `#/processes/${info.name}`);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("button", { name: "Leave it" }).click();
    await page.waitForFunction(() => !document.querySelector("dialog"));
    assert.equal(info.stopped, false);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await confirm(page, "Stop this process", "Stop it");
    await page.getByText(`Stop of ${info.name} was asked for.`).waitFor();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await confirm(page, "Resume this process", "Resume it");
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    assert.equal(info.stopped, false);
    await page.done();
  });

  it("skips what fails, and retries the rest", async () => {
    const failures = [failure("a", "command/5/0"), failure("b", "event/6"), failure("", "event/7")];
    const { info } = added("fails", { failing: 5, failures });
    const page = await h.tab(h.open, `#/processes/${info.name}`);
    await page.getByText("And 2 more.").waitFor();
    await page.getByRole("button", { name: "Skip event/6" }).click();
    await confirm(page, "Skip this item", "Skip it");
    await page.getByText("Skip of event/6 was asked for.").waitFor();
    await soon(async () => assert.equal(await page.getByRole("button", { name: "Skip event/6" }).count(), 0));
    assert.deepEqual(
      info.failures.map(({ item }) => item),
      ["command/5/0", "event/7"],
    );
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    await confirm(page, "Retry this process", "Retry now");
    await page.getByText("Nothing waits to be tried again.").waitFor();
    await page.done();
  });

  it("has an effect that was given up performed once more", async () => {
    const { info, effects } = added("gave", { given_up: 1 });
    const parked_at = new Date().toISOString();
    effects.push({ instance: "a", item: "effect/5/0", type: "mail.Send", reason: "503", parked_at });
    const page = await h.tab(h.open, `#/processes/${info.name}/parked`, { expected: refusedLoad });
    await page.getByRole("button", { name: "Replay effect/5/0" }).click();
    await page.route("**/control", (route) =>
      route.fulfill({ status: 503, json: { error: { code: "unavailable", message: "a shard has no writer" } } }),
    );
    await confirm(page, "Replay this item", "Perform it");
    await page.getByRole("dialog").getByText("a shard has no writer").waitFor();
    await page.unroute("**/control");
    await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
    await page.getByText("No effect was given up, or all were performed since.").waitFor();
    assert.equal(info.performed, 1);
    await page.done();
  });

  it("pages through instances, and stops, resumes and retries one", async () => {
    const process = added("many", { failing: 1, failures: [failure("i4", "command/5/0")] });
    const name = process.info.name;
    for (let n = 1; n <= 7; n += 1) process.instances.push({ instance: `i${n}`, version: n, last_position: first + n });
    const page = await h.tab(h.open);
    await inThrees(page, `processes/${name}/instances`);
    await page.goto(`${h.open.url}/#/processes/${name}`);
    await page.getByRole("link", { name: "Instances" }).click();
    await page.getByText("3 instances, and more").waitFor();
    await page.getByRole("link", { name: "Next" }).click();
    const row = page.getByRole("row").filter({ hasText: "i4" });
    await row.getByText("3 attempts: no").waitFor();
    await page.getByRole("button", { name: "Retry i4" }).click();
    await confirm(page, "Retry this instance", "Retry now");
    await soon(async () => assert.equal(await page.getByRole("button", { name: "Retry i4" }).count(), 0));
    await page.getByRole("button", { name: "Stop i5" }).click();
    await confirm(page, "Stop this instance", "Stop it");
    await page.getByRole("button", { name: "Resume i5" }).click();
    await confirm(page, "Resume this instance", "Resume it");
    await page.getByRole("button", { name: "Stop i5" }).waitFor();
    await page.getByRole("link", { name: "Previous" }).click();
    await page.getByRole("cell", { name: "i1", exact: true }).waitFor();
    assert.deepEqual(process.info.stopped_instances, []);
    await page.done();
  });

  it("says that there is no such process", async () => {
    const page = await h.tab(h.open, "#/processes/nobody", { expected: refusedLoad });
    await page.getByText("There is no such process.").waitFor();
    await page.getByRole("link", { name: "The list" }).click();
    await heading(page, "Processes");
    await page.done();
  });
});

describe("timers", { skip: real ? "none is set beside the real server" : false }, () => {
  const due = (minutes) => new Date(Date.now() + minutes * 60_000).toISOString();
  const timer = (aggregate, name, minutes, more) =>
    h.invented.processes.addTimer({ aggregate, name, due: due(minutes), command: "order.Expire", ...more });
  const names = (page) => shownAs(page, "Timers").locator("tbody tr:not(.inside) td:nth-child(4)").allInnerTexts();

  it("shows those that wait in order of due, what they send, and when again", async () => {
    const kind = `once${run}`;
    timer(`${kind}-1`, "second", 125, { payload: { number: 7 } });
    timer(`${kind}-2`, "first", 65, { every: "1h" });
    timer(`${kind}-2`, "third", 3_000, { calendar: "0 18 * * MON-FRI", zone: "Europe/Berlin" });
    const page = await h.tab(h.open);
    await page.getByRole("link", { name: "Timers" }).click();
    await heading(page, "Timers");
    await page.getByLabel("Type").fill(kind);
    await page.keyboard.press("Enter");
    await page.getByText("3 timers of 3 that wait").waitFor();
    assert.deepEqual(await names(page), ["first", "second", "third"]);
    const text = (await shownAs(page, "Timers").innerText()).replace(/\s+/g, " ");
    for (const part of ["in 2 h", "again every 1h", "again at 0 18 * * MON-FRI, Europe/Berlin", "order.Expire"])
      assert.ok(text.includes(part), `${part} in ${text}`);
    await page.getByRole("button", { name: `second of ${kind}-1: all of it` }).click();
    await page.locator("tr.inside").getByText('"number"').waitFor();
    await page.getByLabel("Type").fill("");
    await page.getByLabel("Aggregate", { exact: true }).fill(`${kind}-2`);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("2 timers of 2 that wait").waitFor();
    assert.deepEqual(await names(page), ["first", "third"]);
    await page.getByRole("link", { name: "Clear" }).click();
    await soon(async () => assert.ok((await names(page)).includes("close")));
    await page.done();
  });

  it("pages through all and back", async () => {
    const kind = `paged${run}`;
    for (let n = 1; n <= 5; n += 1) timer(`${kind}-${n}`, `t${n}`, n);
    const page = await h.tab(h.open);
    await inThrees(page, "timers");
    await page.goto(`${h.open.url}/${hash("timers", { type: kind })}`);
    await page.getByText("3 timers of 5 that wait").waitFor();
    await page.getByRole("link", { name: "Next" }).click();
    await soon(async () => assert.deepEqual(await names(page), ["t4", "t5"]));
    await page.getByRole("link", { name: "Previous" }).click();
    await soon(async () => assert.deepEqual(await names(page), ["t1", "t2", "t3"]));
    await page.done();
  });

  it("cancels one when that is confirmed, and says why one cannot be", async () => {
    const [id, name] = [`cancel${run}-a/b`, "when & where"];
    timer(id, name, 5);
    timer(id, "gone", 6);
    const page = await h.tab(h.open, hash("timers", { aggregate: id }), { expected: refusedLoad });
    await page.getByRole("button", { name: `Cancel ${name} of ${id}` }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    await page.waitForFunction(() => !document.querySelector("dialog"));
    await page.getByRole("button", { name: `Cancel ${name} of ${id}` }).click();
    await page.getByRole("dialog", { name: "Cancel a timer" }).getByText(name).waitFor();
    await page.getByRole("button", { name: "Cancel it" }).click();
    await page.getByText(`${name} of ${id} was cancelled.`).waitFor();
    await soon(async () => assert.deepEqual(await names(page), ["gone"]));
    await page.getByRole("button", { name: `Cancel gone of ${id}` }).click();
    h.invented.processes.cancelTimer(id, "gone");
    await page.getByRole("button", { name: "Cancel it" }).click();
    await page.getByRole("dialog").getByText("not_found").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByText("No timer of these waits.").waitFor();
    await page.done();
  });
});

it("shows the settings, where each came from, and filters them", async () => {
  const page = await h.tab(h.open, "#/settings");
  await page.locator(".settings tbody tr").first().waitFor();
  const all = await page.locator(".settings tbody tr:not(.group)").count();
  assert.ok(all > 5);
  await page.getByLabel("Filter").fill("listen");
  await page.waitForFunction(
    (before) => document.querySelectorAll(".settings tbody tr:not(.group)").length < before,
    all,
  );
  await page.getByLabel("Filter").fill("no such setting at all");
  await page.getByText("No setting matches.").waitFor();
  await page.done();
});

it("is walked by keyboard alone", async () => {
  const page = await h.tab(h.open);
  const focused = () => page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
  await heading(page, "Overview");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the content");
  for (const name of ["Evershard", "Overview", "Events"]) {
    await page.keyboard.press("Tab");
    assert.equal(await focused(), name);
  }
  await page.keyboard.press("Enter");
  await heading(page, "Events");
  await page.waitForFunction(() => document.activeElement.tagName === "H1");
  await page.keyboard.press("/");
  await page.waitForFunction(() => document.activeElement.labels?.[0]?.textContent === "Aggregate");
  await page.keyboard.press("Tab");
  await page.keyboard.type(type.placed);
  await page.keyboard.press("Enter");
  await page.getByText(/^10 events, /).waitFor();
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement.classList.contains("opener"))); i += 1)
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator("tr.inside").getByText('"number"').waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  await heading(page, "Query");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("dialog"));
  await page.keyboard.press("/");
  await page.keyboard.type(type.placed);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.getByText(/^10 matches/).waitFor();
  await page.done();
});

it("shows hostile data as text, in every field and view", async () => {
  const bad = (field) => `<img src=x onerror="window.hacked='${field}'">`;
  const id = `${bad("type of aggregate").replaceAll("-", "")}${run}-${bad("aggregate")}/../?#%`;
  const event = {
    aggregate: id,
    type: `${bad("type")}${run}`,
    tags: [bad("tag"), `javascript:window.hacked=1//${run}`, "turned \u202egnihtemos"],
    also: [`also-${bad("also")}`],
    payload: { [bad("key")]: bad("payload"), script: "</script><script>window.hacked=2</script>" },
    metadata: { [bad("metadata key")]: bad("metadata") },
  };
  const { first_position: at } = await h.append(event);
  await h.schedule({
    id: `${bad("schedule")}${run}`,
    after: "1min",
    append: { events: [event], expect: [{ aggregate: id, version: 4711 }] },
  });
  const process = bad("process");
  if (!real) {
    const [text, failure] = [bad, { instance: bad("instance"), item: `event/${at}`, type: event.type }];
    const shown = {
      runs_at: text("place"),
      trouble: text("trouble"),
      failing: 1,
      stopped_instances: [text("stopped")],
    };
    const { instances, effects } = h.invented.processes.add(process, {
      ...shown,
      failures: [{ ...failure, attempts: 1, why: text("why") }],
    });
    instances.push({ instance: failure.instance, version: 1, last_position: at });
    effects.push({ ...failure, item: `effect/${at}/0`, reason: text("reason"), parked_at: text("time") });
    const timer = {
      aggregate: id,
      name: text("timer"),
      due: text("due"),
      command: text("command"),
      every: text("every"),
    };
    h.invented.processes.addTimer({ ...timer, payload: event.payload });
  }
  const page = await h.tab(h.open, `#/events/${at}`, { expected: refusedLoad });
  await page.getByText(JSON.stringify(bad("payload"))).waitFor();
  await page.getByText("turned \\u202egnihtemos").waitFor();
  const q = JSON.stringify({ items: [{ types: [event.type], tags: event.tags, concerning: [id] }] });
  const sites = [
    [hash("events", { type: event.type, tag: event.tags[0], aggregate: id }), bad("tag")],
    [`#/aggregates/${encodeURIComponent(id)}`, id],
    ["#/aggregates", id],
    ["#/scheduled", bad("schedule")],
    ...(real
      ? []
      : [
          ["#/processes", bad("trouble")],
          [`#/processes/${encodeURIComponent(process)}`, bad("why")],
          [`#/processes/${encodeURIComponent(process)}/parked`, bad("reason")],
          [`#/processes/${encodeURIComponent(process)}/instances`, bad("instance")],
          [hash("timers", { aggregate: id }), bad("command")],
        ]),
    [`#/aggregates/${encodeURIComponent(id)}/state`, id],
    [hash("query", { q }), bad("tag")],
    [hash("condition", { q }), bad("tag")],
    [`#/aggregates/${encodeURIComponent(bad("unknown"))}-1`, bad("unknown")],
    [`#/events/${encodeURIComponent(bad("position"))}`, bad("position")],
    [`#/${encodeURIComponent(bad("view"))}`, "There is no such view."],
    [hash("query", { q: bad("q") }), "Build a query and run it."],
    ["#/events/%E0%A4%A", "is no position"],
  ];
  for (const [site, text] of sites) {
    await page.goto(`${h.open.url}/${site}`);
    await page.reload();
    await page.getByText(text).first().waitFor();
    if (site.startsWith("#/events?")) await page.getByRole("button", { name: `Event ${at}: all of it` }).click();
    const found = await page.evaluate(() => ({
      hacked: window.hacked,
      images: document.images.length,
      scripts: document.scripts.length,
      hrefs: [...document.links].filter((a) => !/^https?:$/.test(a.protocol)).length,
    }));
    assert.deepEqual(found, { hacked: undefined, images: 0, scripts: 1, hrefs: 0 }, site);
  }
  await page.done();
});

it("refuses what a page of another origin, or a script that got in, would do", async () => {
  const answer = await fetch(`${h.open.url}/`);
  const policy = answer.headers.get("Content-Security-Policy") ?? "";
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ])
    assert.ok(policy.includes(part), part);
  for (const part of ["require-trusted-types-for 'script'", "trusted-types 'none'"])
    assert.ok(policy.includes(part), part);
  assert.ok(!policy.includes("unsafe"));
  assert.equal(answer.headers.get("X-Content-Type-Options"), "nosniff");
  const page = await h.tab(h.open, "", { expected: /Content Security Policy|Trusted/ });
  await page.evaluate(() => {
    const script = document.createElement("script");
    try {
      script.text = "window.hacked = 1";
      document.body.append(script);
    } catch {
      // refused even before it is there
    }
  });
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  await page.done();
});

it("says that the server is away, when it comes and later, and goes on by itself", async () => {
  const page = await h.tab(h.open, "#/events", { expected: refusedLoad });
  await page.getByText("Live", { exact: true }).first().waitFor();
  await h.open.cut();
  await page.getByRole("alert").getByText("The connection to the server is lost.").waitFor();
  await page.getByText("Connection lost", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Aggregates" }).click();
  await page.getByRole("alert").getByText("unreachable").waitFor();
  await h.open.mend();
  await page.waitForFunction(() => !document.body.innerText.includes("is lost"), undefined, { timeout: 60_000 });
  await page.getByRole("link", { name: aggregate(0) }).waitFor();
  await page.done();
});

describe("tokens", { skip: real && !process.env.PAGE_TOKENS_URL ? "PAGE_TOKENS_URL is not given" : false }, () => {
  it("refuses a wrong one, disables what one may not do and says why, and logs out", async () => {
    const page = await h.tab(h.guarded, "#/settings", { expected: refusedLoad });
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("unauthenticated").waitFor();
    await page.getByLabel("Token").fill(tokenOf.read);
    await page.keyboard.press("Enter");
    await page.getByText("This needs a token with the scope “admin”; yours has read.").waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("This needs a token with the scope “admin”; yours has read.").waitFor();
    for (const name of ["Flush", "Verify", "Vacuum"]) assert.ok(await page.getByRole("button", { name }).isDisabled());
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
    assert.ok(
      !(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).includes(tokenOf.read),
    );
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Token").fill(tokenOf.admin);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Settings" }).click();
    await page.locator(".settings tbody tr").first().waitFor();
    await page.done();
  });

  it("lets one who may only read see what is scheduled, and not cancel it", async () => {
    const append = { events: [{ type: type.placed }] };
    await h.schedule({ id: `guarded-${run}`, after: "1h", append }, h.guarded, tokenOf.admin);
    const page = await h.tab(h.guarded, "#/scheduled", { expected: refusedLoad });
    await page.getByLabel("Token").fill(tokenOf.read);
    await page.keyboard.press("Enter");
    await page.getByText("To cancel: This needs a token with the scope “append”; yours has read.").waitFor();
    assert.ok(await page.getByRole("button", { name: `Cancel guarded-${run}` }).isDisabled());
    await page.done();
  });

  it("lets one who may only read see processes and timers, and change nothing", { skip: real }, async () => {
    const page = await h.tab(h.guarded, "#/processes/trips", { expected: refusedLoad });
    await page.getByLabel("Token").fill(tokenOf.read);
    await page.keyboard.press("Enter");
    await page.getByText("This needs a token with the scope “admin”; yours has read.").waitFor();
    for (const name of ["Stop", "Retry", "Skip command/23/0", "Resume oslo"])
      assert.ok(await page.getByRole("button", { name, exact: true }).isDisabled(), name);
    await page.getByRole("link", { name: "Given up" }).click();
    assert.ok(await page.getByRole("button", { name: "Replay effect/21/0" }).isDisabled());
    await page.getByRole("link", { name: "Timers" }).click();
    await page.getByText("To cancel: This needs a token with the scope “admin”; yours has read.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Cancel expire of order-1001" }).isDisabled());
    await page.done();
  });

  it("asks again when the token does not count any more", async () => {
    const page = await h.tab(h.guarded, "", { expected: refusedLoad });
    await page.getByLabel("Token").fill(tokenOf.read);
    await page.keyboard.press("Enter");
    await heading(page, "Overview");
    await page.context().clearCookies();
    await page.evaluate(() => (location.hash = "#/events"));
    await page.getByText("This server wants a token.").waitFor();
    await page.done();
  });
});

describe(
  "an empty store",
  { skip: real && !process.env.PAGE_EMPTY_URL ? "PAGE_EMPTY_URL is not given" : false },
  () => {
    it("says what to do next", async () => {
      const page = await h.tab(h.empty);
      for (const view of ["#/", "#/events", "#/aggregates"]) {
        await page.goto(`${h.empty.url}/${view}`);
        await page.getByText("evershard append --server").waitFor();
      }
      const { listen } = await (await fetch(`${h.empty.url}/api/v1/info`)).json();
      const port = /:([1-9]\d*)(,|$)/.exec(listen.grpc)?.[1];
      assert.ok(port, listen.grpc);
      await page.getByText(`evershard append --server 127.0.0.1:${port} `).waitFor();
      await page.goto(`${h.empty.url}/#/scheduled`);
      await page.getByText("evershard schedule append --server").waitFor();
      await page.goto(`${h.empty.url}/#/processes`);
      await page.getByText("No process ever ran here.").waitFor();
      await page.goto(`${h.empty.url}/#/timers`);
      await page.getByText("No timer waits.").waitFor();
      await page.done();
    });
  },
);
