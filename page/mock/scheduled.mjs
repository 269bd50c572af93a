// Invented scheduled appends: made when somebody looks and they are due.

import { refuse } from "./store.mjs";

const units = { ms: 1, s: 1e3, min: 6e4, h: 36e5, d: 864e5 };
const time = (ms) => new Date(ms).toISOString().replace("Z", "000Z");
const dueFirst = (a, b) => a.due.localeCompare(b.due) || a.position - b.position;

export class MockSchedule {
  all = new Map();
  constructor(store) {
    this.store = store;
  }

  schedule({ id = crypto.randomUUID(), due, after, append, replace = false }) {
    const there = this.all.get(id);
    if (there && !replace && JSON.stringify(there.append) === JSON.stringify(append))
      return { ...there, duplicate: true };
    if (there && !(replace && there.state === "pending"))
      refuse(409, "version_conflict", `there is another scheduled append "${id}"`);
    const [, count, unit] = /^(\d+)(ms|s|min|h|d)$/.exec(after ?? "") ?? [];
    const now = Date.now();
    const { first_position: position } = this.store.append({
      aggregate: `$schedule-${id}`,
      type: "$AppendScheduled",
    });
    const scheduled = { id, state: "pending", due: due ?? time(now + count * units[unit]), scheduled_at: time(now) };
    this.all.set(id, { ...scheduled, position, append });
    return this.all.get(id);
  }

  cancel(id) {
    const one = this.get(id);
    if (one.state === "cancelled") return one;
    if (one.state !== "pending")
      refuse(409, "condition_failed", `scheduled append "${id}" does not wait any more: it was ${one.state}`);
    return Object.assign(one, { state: "cancelled", settled_at: time(Date.now()) });
  }

  get(id) {
    this.#makeDue();
    return this.all.get(id) ?? refuse(404, "not_found", `there is no scheduled append "${id}"`);
  }

  list({ state = "pending", after = "", limit = 100 }) {
    this.#makeDue();
    const all = state === "all";
    const order = all ? (a, b) => (a.id < b.id ? -1 : 1) : dueFirst;
    const key = (one) => (all ? one.id : `${one.due}:${String(one.position).padStart(12, "0")}`);
    const rows = [...this.all.values()]
      .filter((one) => (all || one.state === "pending") && key(one) > after)
      .sort(order)
      .slice(0, Number(limit));
    return { scheduled: rows, next: rows.length === Number(limit) ? key(rows.at(-1)) : null };
  }

  #makeDue() {
    const now = time(Date.now());
    for (const one of [...this.all.values()].filter(({ state, due }) => state === "pending" && due <= now)) {
      try {
        const { first_position, last_position } = this.store.append(one.append);
        Object.assign(one, { state: "appended", settled_at: now, first_position, last_position });
      } catch ({ code, message, details }) {
        Object.assign(one, { state: "refused", settled_at: now, error: { code, message, ...details } });
      }
    }
  }

  /// A few of a shop's.
  fill() {
    const remind = (n, after, more = {}) =>
      this.schedule({
        id: `reminder-${n}`,
        after,
        append: {
          events: [{ aggregate: `order-${n}`, type: "ReminderSent", payload: { by: "mail", try: 1 } }],
          fail_if: [{ query: { items: [{ types: ["OrderPaid"], concerning: [`order-${n}`] }] }, after: 0 }],
          ...more,
        },
      });
    remind(1001, "40min");
    remind(1002, "3d", { expect: [{ aggregate: "order-1002", version: "exists" }] });
    remind(1003, "0s");
    remind(1004, "0s", { expect: [{ aggregate: "order-1004", version: 4711 }] });
    remind(1005, "2h");
    this.cancel("reminder-1005");
    const events = ["CartDropped", "StockFreed"].map((type) => ({ aggregate: "cart-7", type }));
    this.schedule({ id: "cart-7", after: "15min", append: { events } });
  }
}
