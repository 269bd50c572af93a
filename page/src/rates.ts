// Rates: the last minutes of the live figures, in columns as charts want them.

import type { LiveStats } from "./shapes.ts";

export const names = [
  "appends",
  "events",
  "reads",
  "refused",
  "commit_p50",
  "commit_p99",
  "append_p50",
  "append_p99",
] as const;
export type Name = (typeof names)[number];
export type Column = (number | null)[];

const secondsMax = 300;
const gapSecondsMax = 10; // a rate over a longer pause would be drawn as if it had been steady

export class Rates {
  at: number[] = []; // seconds
  columns = Object.fromEntries(names.map((name) => [name, [] as Column])) as Record<Name, Column>;
  last: LiveStats | undefined;

  add(next: LiveStats): void {
    const at = new Date(next.at).getTime() / 1000;
    const last = this.last;
    const seconds = last ? at - new Date(last.at).getTime() / 1000 : 0;
    if (Number.isNaN(at) || (last && seconds <= 0)) return;
    const steady = last !== undefined && seconds <= gapSecondsMax;
    // Counters begin anew with the server.
    const per = (now: number, before: number) => (steady && now >= before ? (now - before) / seconds : null);
    if (last && !steady) this.push(at - seconds / 2, {});
    this.push(at, {
      appends: per(next.appends, last?.appends ?? 0),
      events: per(next.events, last?.events ?? 0),
      reads: per(next.reads, last?.reads ?? 0),
      refused: per(next.refused, last?.refused ?? 0),
      commit_p50: next.commit_micros?.p50 ?? null,
      commit_p99: next.commit_micros?.p99 ?? null,
      append_p50: next.append_micros?.p50 ?? null,
      append_p99: next.append_micros?.p99 ?? null,
    });
    this.last = next;
  }

  now(name: Name): number | null {
    return this.columns[name].at(-1) ?? null;
  }

  private push(at: number, row: Partial<Record<Name, number | null>>): void {
    this.at.push(at);
    for (const name of names) this.columns[name].push(row[name] ?? null);
    while (this.at.length > 0 && (this.at[0] ?? 0) < at - secondsMax) {
      this.at.shift();
      for (const name of names) this.columns[name].shift();
    }
  }
}
