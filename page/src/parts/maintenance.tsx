// Flush, verify, vacuum: for those who may.

import { useCell } from "../cell.ts";
import { bytes, grouped, plural, visible } from "../format.ts";
import { jobs, type Job, type JobName, run } from "../jobs.ts";
import { lacking } from "../session.ts";
import { ErrorNote } from "./notes.tsx";

const works: { name: JobName; title: string; sentence: string }[] = [
  { name: "flush", title: "Flush", sentence: "Seals the tail: the next opening has nothing to rebuild." },
  { name: "verify", title: "Verify", sentence: "Checks every record, the order, and the indexes against a rebuild." },
  { name: "vacuum", title: "Vacuum", sentence: "Gives back the space of what was removed or replaced." },
];

export function Maintenance() {
  const reason = lacking("admin");
  return (
    <section class="maintenance" aria-label="Maintenance">
      <h2>Maintenance</h2>
      {reason && (
        <p id="maintenance-reason" class="dim">
          {reason}
        </p>
      )}
      <div class="works">
        {works.map((work) => (
          <Work key={work.name} {...work} reason={reason} />
        ))}
      </div>
    </section>
  );
}

function Work({ name, title, sentence, reason }: (typeof works)[number] & { reason: string | undefined }) {
  const job = useCell(jobs[name]);
  const running = job.at === "running";
  return (
    <div class="work">
      <div class="row">
        <button
          type="button"
          disabled={reason !== undefined || running}
          aria-describedby={reason ? "maintenance-reason" : undefined}
          title={reason}
          onClick={() => void run(name)}
        >
          {title}
        </button>
        <span class="dim">{sentence}</span>
      </div>
      {running && (
        <div class="row">
          <progress aria-label={`${title}, progress`} {...(job.total > 0 ? { value: job.done, max: job.total } : {})} />
          <span class="num">{job.total > 0 ? `${Math.floor((100 * job.done) / job.total)} %` : ""}</span>
          {job.stop && (
            <button type="button" class="link" onClick={job.stop}>
              Stop
            </button>
          )}
        </div>
      )}
      <div role="status">{job.at === "done" && <Result name={name} job={job} />}</div>
      {job.at === "failed" && <ErrorNote failure={job.failure} />}
    </div>
  );
}

function Result({ name, job: { result } }: { name: JobName; job: Extract<Job, { at: "done" }> }) {
  if (name === "vacuum")
    return (
      <p class="good">
        Done: {bytes(Number(result.disk_bytes_before))} before, {bytes(Number(result.disk_bytes))} now.
      </p>
    );
  if (name === "flush")
    return (
      <p class="good">Done{typeof result.sealed === "number" ? `: sealed up to ${grouped(result.sealed)}` : ""}.</p>
    );
  const errors = Number(result.errors);
  const findings = Array.isArray(result.findings) ? result.findings.map(String) : [];
  const looked = `${plural(Number(result.events), "event")}, ${plural(Number(result.records), "record")}, ${plural(Number(result.index_rows), "index row")}, ${plural(Number(result.snapshots), "snapshot")}`;
  if (errors === 0) return <p class="good">Sound: {looked}, no errors.</p>;
  return (
    <div class="note bad">
      <p>
        <b>{plural(errors, "error")}</b> in {looked}. docs/operations.md says what to do.
      </p>
      <ul>
        {findings.map((finding) => (
          <li key={finding}>{visible(finding)}</li>
        ))}
      </ul>
    </div>
  );
}
