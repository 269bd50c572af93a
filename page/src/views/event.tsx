// One event, with all that is known of it.

import { get } from "../api.ts";
import { Failure } from "../api.ts";
import { useCell } from "../cell.ts";
import { rates } from "../live_stats.ts";
import { useLoad } from "../load.ts";
import { EventFields } from "../parts/event_fields.tsx";
import { ErrorNote } from "../parts/notes.tsx";
import { to } from "../route.ts";
import type { StoredEvent } from "../shapes.ts";

export function EventView({ position }: { position: string }) {
  const at = /^\d{1,15}$/.test(position) ? Number(position) : undefined;
  const { data, failure, loading, reload } = useLoad(at === undefined ? undefined : `event ${at}`, (signal) =>
    get<StoredEvent>(`events/${at}`, {}, signal),
  );
  const head = useCell(rates).last?.head;
  return (
    <>
      <div class="bar">
        <h1 tabIndex={-1}>
          Event <span class="num">{position}</span>
        </h1>
        {at !== undefined && (
          <div class="pager" role="group" aria-label="Neighbours">
            {at > 1 && (
              <a class="button" href={to("events", at - 1)}>
                Before
              </a>
            )}
            {(head === undefined || at < head) && (
              <a class="button" href={to("events", at + 1)}>
                Next
              </a>
            )}
            <a class="button" href={to("events", { before: at + 1 })}>
              In the list
            </a>
          </div>
        )}
      </div>
      {at === undefined && (
        <ErrorNote failure={new Failure("invalid_argument", `“${position}” is no position: a whole number from 1.`)} />
      )}
      {failure && <ErrorNote failure={failure} retry={reload} />}
      <div class={loading ? "stale" : ""} aria-busy={loading}>
        {data && <EventFields event={data} />}
      </div>
    </>
  );
}
