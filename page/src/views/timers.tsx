// Timers of aggregates that wait, in order of when they are due; and cancelling.

import { useEffect, useId, useState } from "preact/hooks";
import { get } from "../api.ts";
import { grouped, plural, relative, visible } from "../format.ts";
import { useLoad } from "../load.ts";
import { useNow } from "../now.ts";
import { AskButton } from "../parts/ask_button.tsx";
import { ConfirmDialog } from "../parts/confirm_dialog.tsx";
import { AggregateLink, Id, PositionLink, Time } from "../parts/links.tsx";
import { Empty, ErrorNote } from "../parts/notes.tsx";
import { pageBefore, Pages } from "../parts/pages.tsx";
import { PayloadView } from "../parts/payload.tsx";
import { go, type Route, to } from "../route.ts";
import { lacking } from "../session.ts";
import type { Timer } from "../shapes.ts";

const limit = 100;

interface TimerPage {
  timers: Timer[];
  pending: number;
  next: string | null;
}

/// The server reads all that ever set timers for a page: asked when one comes here, and when one says so.
export function TimersView({ route }: { route: Route }) {
  const asked = (name: string) => route.params.get(name) ?? "";
  const [type, aggregate, after] = [asked("type"), asked("aggregate"), asked("after")];
  const page = useLoad(JSON.stringify([type, aggregate, after]), (signal) =>
    get<TimerPage>("timers", { type, aggregate, after, limit }, signal),
  );
  const [typeText, setType] = useState(type);
  const [aggregateText, setAggregate] = useState(aggregate);
  useEffect(() => (setType(type), setAggregate(aggregate)), [type, aggregate]);
  const [question, ask] = useState<Timer>(); // to be cancelled, if its reader says so
  const [cancelled, setCancelled] = useState<Timer>();
  const now = useNow();

  const next = page.data?.next;
  const back = pageBefore(`timers ${type}\n${aggregate}`, after, next);
  const of = (more: string | undefined) => to("timers", { type, aggregate, after: more });
  const rows = page.data?.timers ?? [];
  const filtered = type !== "" || aggregate !== "";
  const reason = lacking("admin");
  const show = (event: Event) => {
    event.preventDefault();
    go(to("timers", { type: typeText.trim(), aggregate: aggregateText.trim() }));
  };
  return (
    <>
      <h1 tabIndex={-1}>Timers</h1>
      <form class="filters" onSubmit={show} role="search" aria-label="Timers of aggregates">
        <Field label="Type" hint="any type" text={typeText} put={setType} />
        <Field label="Aggregate" hint="order-1" text={aggregateText} put={setAggregate} />
        <button type="submit" class="main">
          Show
        </button>
        {filtered && <a href={to("timers")}>Clear</a>}
      </form>
      <div class="bar short">
        <Pages
          first={after === "" ? undefined : of("")}
          back={back === undefined ? undefined : of(back)}
          next={next ? of(next) : undefined}
        />
        <button type="button" disabled={page.loading} onClick={page.reload}>
          Ask again
        </button>
        <p class="dim" role="status">
          {page.data
            ? `${plural(rows.length, "timer")} of ${grouped(page.data.pending)} that wait`
            : page.failure
              ? ""
              : "Asking …"}
        </p>
      </div>
      {page.failure && <ErrorNote failure={page.failure} retry={page.reload} />}
      {cancelled && (
        <p class="good" role="status">
          <Id text={cancelled.name} /> of <Id text={cancelled.aggregate} /> was cancelled.
        </p>
      )}
      {reason && rows.length > 0 && (
        <p id="cancel-reason" class="dim">
          To cancel: {reason}
        </p>
      )}
      {rows.length > 0 && (
        <div class="wide">
          <table class={`rows scheduled ${page.loading ? "stale" : ""}`} aria-label="Timers">
            <thead>
              <tr>
                <th>
                  <span class="unseen">Open</span>
                </th>
                <th>Aggregate</th>
                <th>Due</th>
                <th>Name</th>
                <th>Command</th>
                <th>
                  <span class="unseen">Cancel</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row
                  key={JSON.stringify([row.aggregate, row.name])}
                  row={row}
                  now={now}
                  reason={reason}
                  cancel={() => ask(row)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {page.data && rows.length === 0 && !page.failure && (
        <Empty title={filtered ? "No timer of these waits." : "No timer waits."}>
          <p>
            {filtered ? (
              <a href={to("timers")}>Show all</a>
            ) : (
              "An aggregate’s effects set timers, which send it commands later. docs/processes.md shows how."
            )}
          </p>
        </Empty>
      )}
      {question && (
        <ConfirmDialog
          question={{
            title: "Cancel a timer",
            sentence: (
              <>
                <Id text={question.aggregate} /> will not be sent the command of <Id text={question.name} />
                {question.every || question.calendar ? ", not later either" : ""}. This cannot be taken back.
              </>
            ),
            yes: "Cancel it",
            no: "Keep it",
            path: `timers/${encodeURIComponent(question.aggregate)}/cancel?${new URLSearchParams({ name: question.name })}`,
          }}
          close={(done) => {
            ask(undefined);
            if (done) setCancelled(question);
            page.reload();
          }}
        />
      )}
    </>
  );
}

interface FieldProps {
  label: string;
  hint: string;
  text: string;
  put: (text: string) => void;
}

function Field({ label, hint, text, put }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        value={text}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => put(event.currentTarget.value)}
      />
    </div>
  );
}

interface RowProps {
  row: Timer;
  now: number;
  reason: string | undefined;
  cancel: () => void;
}

function Row({ row, now, reason, cancel }: RowProps) {
  const [open, setOpen] = useState(false);
  const called = `${row.name} of ${row.aggregate}`;
  return (
    <>
      <tr class={open ? "opened" : ""}>
        <td>
          <button
            type="button"
            class="opener"
            aria-expanded={open}
            aria-label={`${visible(called)}: all of it`}
            onClick={() => setOpen(!open)}
          />
        </td>
        <td>
          <AggregateLink id={row.aggregate} />
        </td>
        <td class="due">
          <Time utc={row.due} short />
          <span class="dim">{relative(row.due, now)}</span>
        </td>
        <td>
          <Id text={row.name} />
        </td>
        <td>
          <Id text={row.command} />
          {row.every && <div class="dim">again every {row.every}</div>}
          {row.calendar && (
            <div class="dim">
              again at <Id text={row.calendar} />, {visible(row.zone || "UTC")}
            </div>
          )}
        </td>
        <td class="right">
          <AskButton name="Cancel" of={called} reason={reason} told="cancel-reason" ask={cancel} />
        </td>
      </tr>
      {open && (
        <tr class="inside">
          <td colSpan={6}>
            <p class="facts">
              <span>
                Set at position <PositionLink position={row.set_at} />
              </span>
            </p>
            <PayloadView stored={row} />
          </td>
        </tr>
      )}
    </>
  );
}
