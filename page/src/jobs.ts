// Maintenance under way: it goes on while one looks at something else.

import { Failure, post, work } from "./api.ts";
import { Cell } from "./cell.ts";

export type JobName = "flush" | "verify" | "vacuum";
export type Job =
  | { at: "idle" }
  | { at: "running"; done: number; total: number; stop?: () => void }
  | { at: "done"; result: Record<string, unknown> }
  | { at: "failed"; failure: Failure };

export const jobs: Record<JobName, Cell<Job>> = {
  flush: new Cell<Job>({ at: "idle" }),
  verify: new Cell<Job>({ at: "idle" }),
  vacuum: new Cell<Job>({ at: "idle" }),
};

export async function run(name: JobName): Promise<void> {
  const job = jobs[name];
  if (job.value.at === "running") return;
  const control = new AbortController();
  const stop = name === "flush" ? undefined : () => control.abort();
  job.set({ at: "running", done: 0, total: 0, stop });
  try {
    const result =
      name === "flush"
        ? await post<Record<string, unknown>>("admin/flush", {})
        : await work<Record<string, unknown>>(
            `admin/${name}`,
            (done, total) => job.set({ at: "running", done, total, stop }),
            control.signal,
          );
    job.set({ at: "done", result });
  } catch (error) {
    const failure = control.signal.aborted
      ? new Failure("cancelled", "Stopped before it was done.")
      : error instanceof Failure
        ? error
        : new Failure("page", String(error));
    job.set({ at: "failed", failure });
  }
}
