// Invented processes and timers. What is wanted of a process is done a moment later, as by a program elsewhere.

import { refuse } from "./store.mjs";

const time = (ms) => new Date(ms).toISOString().replace("Z", "000Z");
const doneAfterMs = 300;
const actions = ["stop", "resume", "retry", "skip", "replay"];

export class MockProcesses {
  all = new Map();
  pending = []; // timers
  constructor(store) {
    this.store = store;
  }

  add(name, more = {}) {
    const none = { waiting: 0, failing: 0, reacted: 0, sent: 0, rejected: 0, performed: 0, given_up: 0, failed: 0 };
    this.all.set(name, {
      info: {
        ...{
          name,
          behind: 0,
          stopped: false,
          running: true,
          stopped_instances: [],
          ...none,
          failures: [],
          skipped: [],
          replays: [],
        },
        ...{ taken_at: time(Date.now() - 9e6), ...more },
      },
      instances: [],
      effects: [],
    });
    return this.all.get(name);
  }
  addTimer(timer) {
    this.pending.push({ set_at: this.store.append({ type: "$TimersSet" }).first_position, ...timer });
  }

  #of(name) {
    return this.all.get(name) ?? refuse(404, "not_found", `no process "${name}" ever ran here`);
  }
  get(name) {
    const { behind, ...info } = this.#of(name).info;
    const head = this.store.events.length;
    const said_at = info.runs_at && { said_at: time(Date.now()) };
    return { ...info, head, lag: Math.min(behind, head), position: Math.max(0, head - behind), ...said_at };
  }
  list() {
    return [...this.all.keys()].sort().map((name) => this.get(name));
  }
  instances(name, { after = "", limit = 100 }) {
    const { info, instances } = this.#of(name);
    const rows = instances
      .filter(({ instance }) => instance > after)
      .sort((a, b) => (a.instance < b.instance ? -1 : 1))
      .slice(0, Number(limit))
      .map((one) => ({
        ...one,
        stopped: info.stopped || info.stopped_instances.includes(one.instance),
        failures: info.failures
          .filter(({ instance }) => instance === one.instance)
          .map(({ instance: _, ...failure }) => failure),
      }));
    return { instances: rows, next: rows.length === Number(limit) ? rows.at(-1).instance : null };
  }
  parked(name) {
    const { info, effects } = this.#of(name);
    return effects.map((one) => ({ ...one, replaying: info.replays.includes(one.item) }));
  }

  control(name, { action, instance, item }) {
    const { info, effects } = this.#of(name);
    if (!actions.includes(action)) refuse(400, "invalid_argument", `"${action}" is none of ${actions}`);
    if (action === "replay") {
      if (!effects.some((one) => one.item === item))
        refuse(404, "not_found", `process "${name}" has no parked "${item}"`);
      info.replays = [...info.replays, item];
    }
    setTimeout(() => this.#does(name, action, instance, item), doneAfterMs).unref();
    return { position: this.store.append({ type: "$ProcessControlled" }).first_position };
  }
  #does(name, action, instance, item) {
    const process = this.#of(name);
    const { info } = process;
    const forget = (gone) => {
      info.failures = info.failures.filter((one) => !gone(one));
      info.failing = info.failures.length;
    };
    const others = info.stopped_instances.filter((one) => one !== instance);
    if (action === "stop" && instance === undefined) info.stopped = true;
    if (action === "stop" && instance !== undefined) info.stopped_instances = [...others, instance].sort();
    if (action === "resume" && instance === undefined) info.stopped = false;
    if (action === "resume" && instance !== undefined) info.stopped_instances = others;
    if (action === "retry") forget((one) => instance === undefined || one.instance === instance);
    if (action === "skip") forget((one) => one.item === item);
    if (action === "replay") {
      process.effects = process.effects.filter((one) => one.item !== item);
      info.replays = info.replays.filter((one) => one !== item);
      info.performed += 1;
    }
  }

  timers({ type, aggregate, after = "", limit = 100 }) {
    const key = ({ due, aggregate: of, name }) => `${due} ${of} ${name}`;
    const wanted = this.pending.filter(
      (one) => (!type || one.aggregate.startsWith(`${type}-`)) && (!aggregate || one.aggregate === aggregate),
    );
    const rows = wanted
      .filter((one) => key(one) > after)
      .sort((a, b) => (key(a) < key(b) ? -1 : 1))
      .slice(0, Number(limit));
    return { timers: rows, pending: wanted.length, next: rows.length === Number(limit) ? key(rows.at(-1)) : null };
  }
  cancelTimer(aggregate, name) {
    const at = this.pending.findIndex((one) => one.aggregate === aggregate && one.name === name);
    if (at < 0) refuse(404, "not_found", `aggregate "${aggregate}" has no timer "${name}"`);
    this.pending.splice(at, 1);
    return {};
  }

  /// A shop's: one runs, one fails, one is stopped, one begins.
  fill() {
    const runs_at = "shop-2:4711";
    const figures = { reacted: 48_112, sent: 51_020, rejected: 212, performed: 3_140, given_up: 2, failed: 96 };
    const why = 'aggregate "hotel-grand" cannot be reached: its shard has no writer';
    const trips = this.add("trips", {
      ...{ runs_at, behind: 41, waiting: 3, failing: 2, ...figures, stopped_instances: ["oslo"] },
      trouble: "hotel-grand: its shard has no writer",
      failures: [
        { instance: "rome", item: "command/23/0", type: "hotel.Book", attempts: 7, why },
        { instance: "bern", item: "event/17", type: "OrderPlaced", attempts: 2, why: "the handler threw: no price" },
      ],
    });
    for (const [i, instance] of ["bern", "lima", "oslo", "paris", "rome"].entries())
      trips.instances.push({ instance, version: 2 + i, last_position: 20 + i });
    const parked_at = time(Date.now() - 7e5);
    const [type, reason] = ["mail.Send", "503 from mail.example"];
    trips.effects.push({ instance: "lima", item: "effect/21/0", type, reason, parked_at });
    trips.effects.push({ instance: "paris", item: "effect/22/1", type, reason: "no such address", parked_at });
    this.add("invoices", { runs_at, reacted: 900, sent: 880 });
    this.add("mails", { runs_at, running: false, behind: 7 });
    this.add("reminders", { runs_at, stopped: true, behind: 120 });
    this.add("returns");

    const due = (minutes) => time(Date.now() + minutes * 6e4);
    const timer = (aggregate, name, minutes, more = {}) =>
      this.addTimer({ aggregate, name, due: due(minutes), command: "order.Expire", ...more });
    timer("order-1001", "expire", 15, { payload: { try: 1 } });
    timer("order-1002", "expire", 45, { payload: "AQID", payload_encoding: "base64" });
    timer("shop-1", "close", 300, { command: "shop.Close", calendar: "0 18 * * MON-FRI", zone: "Europe/Berlin" });
    timer("shop-1", "count", 30, { command: "shop.Count", every: "1h" });
  }
}
