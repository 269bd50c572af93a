// Scheduled appends: those that wait, or all with what became of them; and cancelling.

import { useState } from "preact/hooks";
import { get } from "../api.ts";
import { grouped, plural, relative, visible } from "../format.ts";
import { grpcServer } from "../grpc_server.ts";
import { useLoad } from "../load.ts";
import { useAgain, useNow } from "../now.ts";
import { AskButton } from "../parts/ask_button.tsx";
import { ConfirmDialog } from "../parts/confirm_dialog.tsx";
import { AggregateLink, Id, PositionLink, Time, TypeLink } from "../parts/links.tsx";
import { Command, Empty, ErrorNote } from "../parts/notes.tsx";
import { pageBefore, Pages } from "../parts/pages.tsx";
import { PayloadView, textOf } from "../parts/payload.tsx";
import { type Route, to } from "../route.ts";
import { lacking } from "../session.ts";
import type { Scheduled } from "../shapes.ts";

const limit = 100;
const askAgainMs = 5_000;

export const stateOf = (scheduled: Scheduled): string => textOf(scheduled.state);

export function ScheduledView({ route }: { route: Route }) {
  const all = route.params.get("state") === "all";
  const after = route.params.get("after") ?? "";
  const state = all ? "all" : "pending";
  const page = useLoad(JSON.stringify([state, after]), (signal) =>
    get<{ scheduled: Scheduled[]; next: string | null }>("scheduled", { state, after, limit }, signal),
  );
  const [asked, ask] = useState<Scheduled>(); // to be cancelled, if its reader says so
  const [cancelled, setCancelled] = useState<string[]>([]);
  const now = useNow();
  useAgain(page, askAgainMs);

  const next = page.data?.next;
  const back = pageBefore(`scheduled ${state}`, after, next);
  const of = (more: string | undefined) => to("scheduled", { state: all ? "all" : "", after: more });
  // What is cancelled here is known at once, what the list says comes later.
  const rows = (page.data?.scheduled ?? []).filter((one) => all || !cancelled.includes(one.id));
  const reason = lacking("append");
  return (
    <>
      <h1 tabIndex={-1}>Scheduled</h1>
      <div class="bar short">
        <div class="pager" role="group" aria-label="Which">
          <a class="button" href={to("scheduled")} aria-current={all ? undefined : "true"}>
            Waiting
          </a>
          <a class="button" href={to("scheduled", { state: "all" })} aria-current={all ? "true" : undefined}>
            All
          </a>
        </div>
        <Pages
          first={after === "" ? undefined : of("")}
          back={back === undefined ? undefined : of(back)}
          next={next ? of(next) : undefined}
        />
        <p class="dim" role="status">
          {page.data ? plural(rows.length, "append") + (next ? ", and more" : "") : page.failure ? "" : "Asking …"}
        </p>
      </div>
      {page.failure && <ErrorNote failure={page.failure} retry={page.reload} />}
      {cancelled.length > 0 && (
        <p class="good" role="status">
          <Id text={cancelled.at(-1)!} /> was cancelled.
        </p>
      )}
      {reason && rows.length > 0 && (
        <p id="cancel-reason" class="dim">
          To cancel: {reason}
        </p>
      )}
      {rows.length > 0 && (
        <div class="wide">
          <table class="rows scheduled" aria-label="Scheduled appends">
            <thead>
              <tr>
                <th>
                  <span class="unseen">Open</span>
                </th>
                <th>Id</th>
                <th>Due</th>
                <th>Events</th>
                <th>Only if</th>
                {all && <th>Outcome</th>}
                <th>
                  <span class="unseen">Cancel</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.id} row={row} all={all} now={now} reason={reason} cancel={() => ask(row)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {page.data && rows.length === 0 && !page.failure && (
        <Empty title={all ? "No append was ever scheduled." : "No append waits."}>
          <p>The server stores a scheduled append when it is due:</p>
          <Command
            text={`evershard schedule append --server ${grpcServer()} --in 15min --aggregate order-1 --type Reminded`}
          />
        </Empty>
      )}
      {asked && (
        <ConfirmDialog
          question={{
            title: "Cancel a scheduled append",
            sentence: (
              <>
                The events of <Id text={asked.id} /> will not be stored. This cannot be taken back.
              </>
            ),
            yes: "Cancel it",
            no: "Keep it",
            path: `scheduled/${encodeURIComponent(asked.id)}/cancel`,
          }}
          close={(done) => {
            ask(undefined);
            if (done) setCancelled((before) => [...before, asked.id]);
            page.reload();
          }}
        />
      )}
    </>
  );
}

interface RowProps {
  row: Scheduled;
  all: boolean;
  now: number;
  reason: string | undefined;
  cancel: () => void;
}

function Row({ row, all, now, reason, cancel }: RowProps) {
  const [open, setOpen] = useState(false);
  const { append } = row;
  const waits = stateOf(row) === "pending";
  return (
    <>
      <tr class={open ? "opened" : ""}>
        <td>
          <button
            type="button"
            class="opener"
            aria-expanded={open}
            aria-label={`${visible(row.id)}: all of it`}
            onClick={() => setOpen(!open)}
          />
        </td>
        <td>
          <Id text={row.id} />
        </td>
        <td class="due">
          {row.due && (
            <>
              <Time utc={row.due} short />
              {waits && <span class="dim">{relative(row.due, now)}</span>}
            </>
          )}
        </td>
        <td>
          {append ? (
            append.events.map((event, i) => (
              <div key={i}>
                <TypeLink type={event.type} /> {event.aggregate !== undefined && <AggregateLink id={event.aggregate} />}
              </div>
            ))
          ) : (
            <span class="dim">erased</span>
          )}
        </td>
        <td>
          <Demands row={row} />
        </td>
        {all && (
          <td>
            <Outcome row={row} />
          </td>
        )}
        <td class="right">
          {waits && <AskButton name="Cancel" of={row.id} reason={reason} told="cancel-reason" ask={cancel} />}
        </td>
      </tr>
      {open && (
        <tr class="inside">
          <td colSpan={all ? 7 : 6}>
            <p class="facts">
              <span>
                Scheduled <Time utc={row.scheduled_at} /> at position <PositionLink position={row.position} />
              </span>
              {row.settled_at && (
                <span>
                  Settled <Time utc={row.settled_at} />
                </span>
              )}
            </p>
            {append?.events.map((event, i) => (
              <section key={i}>
                <h3>
                  <bdi>{visible(event.type)}</bdi>
                </h3>
                <PayloadView stored={event} />
              </section>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

/// What must hold when it is due.
function Demands({ row: { append } }: { row: Scheduled }) {
  return (
    <>
      {append?.expect?.map(({ aggregate, version }) => (
        <div key={aggregate}>
          <AggregateLink id={aggregate} />{" "}
          {typeof version === "number" ? `is at version ${grouped(version)}` : versions[version]}
        </div>
      ))}
      {append?.fail_if?.map(({ query, after }, i) => (
        <div key={i}>
          no match of a <a href={to("condition", { q: JSON.stringify(query), after })}>query</a>
          {after > 0 && (
            <>
              {" "}
              behind <PositionLink position={after} />
            </>
          )}
        </div>
      ))}
    </>
  );
}
const versions = { any: "is at any version", none: "is not there", exists: "is there" };

function Outcome({ row }: { row: Scheduled }) {
  const { first_position: first, last_position: last, error } = row;
  if (first !== undefined && last !== undefined && last >= first)
    return (
      <>
        stored at <PositionLink position={first} />
        {last > first && (
          <>
            {" "}
            to <PositionLink position={last} />
          </>
        )}
      </>
    );
  if (error)
    return (
      <>
        refused: <code class="wrong">{visible(error.code)}</code> {visible(error.message)}
      </>
    );
  const state = stateOf(row);
  return <>{state === "pending" ? "waits" : visible(state)}</>;
}
