// The processes: how each is, in a row.

import { get } from "../api.ts";
import { grouped, plural, visible } from "../format.ts";
import { useLoad } from "../load.ts";
import { useAgain } from "../now.ts";
import { Id } from "../parts/links.tsx";
import { Empty, ErrorNote } from "../parts/notes.tsx";
import { to } from "../route.ts";
import type { Process } from "../shapes.ts";

const askAgainMs = 2_000;

/// As `evershard process list` says it.
export function processState({ stopped, running, said_at, failing }: Process): string {
  if (stopped) return running ? "stopped" : "stopped, nobody runs it";
  if (!running) return "nobody runs it";
  if (!said_at) return "begins";
  return failing > 0 ? "failing" : "runs";
}

export function ProcessesView() {
  const all = useLoad("processes", (signal) => get<{ processes: Process[] }>("processes", {}, signal));
  useAgain(all, askAgainMs);
  const rows = all.data?.processes ?? [];
  return (
    <>
      <h1 tabIndex={-1}>Processes</h1>
      {all.failure ? (
        <ErrorNote failure={all.failure} retry={all.reload} />
      ) : (
        <p class="dim" role="status">
          {all.data ? plural(rows.length, "process", "processes") : "Asking …"}
        </p>
      )}
      {rows.length > 0 && (
        <div class="wide">
          <table class="rows plain" aria-label="Processes">
            <thead>
              <tr>
                <th>Process</th>
                <th>State</th>
                <th class="right">Lag</th>
                <th class="right">Waiting</th>
                <th class="right">Failing</th>
                <th>Runs at</th>
                <th>Trouble</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.name}>
                  <td>
                    <a class="id" href={to("processes", row.name)}>
                      <bdi>{visible(row.name)}</bdi>
                    </a>
                  </td>
                  <td class={processState(row) === "failing" ? "bad" : ""}>{processState(row)}</td>
                  <td class="right num">{grouped(row.lag)}</td>
                  <td class="right num">{grouped(row.waiting)}</td>
                  <td class="right num">{grouped(row.failing)}</td>
                  <td>{row.runs_at ? <Id text={row.runs_at} /> : <span class="dim">not known</span>}</td>
                  <td class={row.trouble ? "why" : ""}>{visible(row.trouble ?? "")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {all.data && rows.length === 0 && (
        <Empty title="No process ever ran here.">
          <p>
            A process is part of a C++ program that hosts aggregates: it reacts to events with commands to others.
            docs/processes.md shows one.
          </p>
        </Empty>
      )}
    </>
  );
}
