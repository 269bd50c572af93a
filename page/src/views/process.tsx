// One process: how it is, what fails, what was given up, its instances; and what may be wanted of it.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { get } from "../api.ts";
import { grouped, plural, visible } from "../format.ts";
import { useLoad } from "../load.ts";
import { useAgain } from "../now.ts";
import { AskButton } from "../parts/ask_button.tsx";
import { ConfirmDialog, type Question } from "../parts/confirm_dialog.tsx";
import { Id, PositionLink, Time, TypeLink } from "../parts/links.tsx";
import { Empty, ErrorNote } from "../parts/notes.tsx";
import { pageBefore, Pages } from "../parts/pages.tsx";
import { Tile } from "../parts/tile.tsx";
import { type Route, to } from "../route.ts";
import { lacking } from "../session.ts";
import type { ParkedEffect, Process, ProcessInstance } from "../shapes.ts";
import { processState } from "./processes.tsx";

const limit = 100;
const askAgainMs = 2_000;
const tabs = [
  ["", "Now"],
  ["parked", "Given up"],
  ["instances", "Instances"],
] as const;

type Action = "stop" | "resume" | "retry" | "skip" | "replay";
/// `what`: an instance, or an item. Without it, all of the process.
type Want = (action: Action, what?: string) => void;

const words: Record<Action, { yes: string; title: string; then: string }> = {
  stop: { yes: "Stop it", title: "Stop", then: "reacts to nothing until it is resumed. What is under way ends." },
  resume: { yes: "Resume it", title: "Resume", then: "goes on where it was." },
  retry: { yes: "Retry now", title: "Retry", then: "tries again at once what waits to be tried again." },
  skip: {
    yes: "Skip it",
    title: "Skip",
    then:
      "is passed over. An event is not told, a command not sent: this cannot be taken back. Of an effect the " +
      "instance is told that it was not performed; it can be replayed.",
  },
  replay: {
    yes: "Perform it",
    title: "Replay",
    then: "is performed once more, with the same idempotency key as before.",
  },
};

export function ProcessView({ route, name }: { route: Route; name: string }) {
  const path = `processes/${encodeURIComponent(name)}`;
  const tab = route.path[2] ?? "";
  const info = useLoad(path, (signal) => get<Process>(path, {}, signal));
  useAgain(info, askAgainMs);
  const [asked, ask] = useState<{ question: Question; what: string }>(); // and what is said when it was done
  const [said, say] = useState<string>();
  const reason = lacking("admin");
  const process = info.data;
  const want: Want = (action, what) => {
    const { title, then, yes } = words[action];
    const ofItem = action === "skip" || action === "replay";
    const kind = ofItem ? "item" : what === undefined ? "process" : "instance";
    say(undefined);
    ask({
      question: {
        title: `${title} this ${kind}`,
        sentence: (
          <>
            <Id text={what ?? name} /> {then}
          </>
        ),
        yes,
        no: "Leave it",
        path: `${path}/control`,
        body: { action, [kind]: what },
      },
      what: `${title} of ${visible(what ?? name)}`,
    });
  };
  return (
    <>
      <h1 tabIndex={-1} class="id">
        <Id text={name} />
      </h1>
      {info.failure && <ErrorNote failure={info.failure} retry={info.reload} />}
      {info.failure?.code === "not_found" && (
        <Empty title="There is no such process.">
          <p>
            Case matters. <a href={to("processes")}>The list</a> shows all that ever ran here.
          </p>
        </Empty>
      )}
      {info.loading && !process && !info.failure && (
        <p class="dim" role="status">
          Asking …
        </p>
      )}
      {process && (
        <>
          <Facts process={process} />
          {process.trouble && (
            <p class="note bad" role="status">
              <b>Trouble:</b> {visible(process.trouble)}
            </p>
          )}
          <div class="row">
            {process.stopped ? (
              <AskButton name="Resume" reason={reason} told="control-reason" ask={() => want("resume")} />
            ) : (
              <AskButton name="Stop" reason={reason} told="control-reason" ask={() => want("stop")} />
            )}
            <AskButton name="Retry" reason={reason} told="control-reason" ask={() => want("retry")} />
            {reason && (
              <span id="control-reason" class="dim">
                {reason}
              </span>
            )}
          </div>
          {said && (
            <p class="good said" role="status">
              {said} was asked for. Whoever runs the process does it within a second, or when it runs again.
            </p>
          )}
          <nav class="tabs" aria-label="Of this process">
            {tabs.map(([of, title]) => (
              <a
                key={of}
                href={of ? to("processes", name, of) : to("processes", name)}
                aria-current={tab === of ? "page" : undefined}
              >
                {title}
              </a>
            ))}
          </nav>
          {tab === "parked" ? (
            <Parked path={path} process={process} reason={reason} want={want} />
          ) : tab === "instances" ? (
            <Instances path={path} process={process} route={route} reason={reason} want={want} />
          ) : (
            <Now process={process} reason={reason} want={want} />
          )}
        </>
      )}
      {asked && (
        <ConfirmDialog
          question={asked.question}
          close={(done) => {
            ask(undefined);
            if (done) say(asked.what);
            info.reload();
          }}
        />
      )}
    </>
  );
}

function Facts({ process }: { process: Process }) {
  const state = processState(process);
  return (
    <p class="facts">
      <span>
        <b class={state === "failing" ? "wrong" : ""}>{state}</b>
        {process.runs_at && (
          <>
            {" "}
            at <Id text={process.runs_at} />
          </>
        )}{" "}
        since <Time utc={process.taken_at} short />
      </span>
      <span>
        {process.said_at ? (
          <>
            as of <Time utc={process.said_at} short />
          </>
        ) : (
          "it said nothing yet"
        )}
      </span>
    </p>
  );
}

interface PartProps {
  process: Process;
  reason: string | undefined;
  want: Want;
}

const InstanceLink = ({ process, instance }: { process: Process; instance: string }) => (
  <a class="id" href={to("aggregates", `${process.name}-${instance}`)}>
    <bdi>{visible(instance)}</bdi>
  </a>
);

/// `event/17` leads to event 17, `command/23/0` to the reaction that wants it.
const ItemLink = ({ item }: { item: string }) => (
  <a class="id whole" href={to("events", item.split("/")[1] ?? "")}>
    {visible(item)}
  </a>
);

function Now({ process, reason, want }: PartProps) {
  const { failures, stopped_instances: stopped } = process;
  return (
    <>
      <dl class="tiles">
        <Tile
          name="Lag"
          value={grouped(process.lag)}
          note={`at ${grouped(process.position)} of ${grouped(process.head)}`}
        />
        <Tile name="Waiting" value={grouped(process.waiting)} note={`${grouped(process.failing)} failing`} />
        <Tile
          name="Events"
          value={grouped(process.reacted)}
          note={plural(process.failed, "failed try", "failed tries")}
        />
        <Tile name="Commands" value={grouped(process.sent)} note={`${grouped(process.rejected)} rejected`} />
        <Tile name="Effects" value={grouped(process.performed)} note={`${grouped(process.given_up)} given up`} />
      </dl>
      <h2>What fails</h2>
      {failures.length === 0 ? (
        <p class="dim">Nothing waits to be tried again.</p>
      ) : (
        <Table name="What fails" heads={["Instance", "Item", "Type", ">Attempts", "Why", ""]}>
          {failures.map((one) => (
            <tr key={one.item + one.instance}>
              <td>{one.instance && <InstanceLink process={process} instance={one.instance} />}</td>
              <td>
                <ItemLink item={one.item} />
              </td>
              <td>{one.item.startsWith("event/") ? <TypeLink type={one.type} /> : <Id text={one.type} />}</td>
              <td class="right num">{grouped(one.attempts)}</td>
              <td class="why">{visible(one.why)}</td>
              <td class="right">
                {process.skipped.includes(one.item) ? (
                  <span class="dim">is skipped</span>
                ) : (
                  <AskButton
                    name="Skip"
                    of={one.item}
                    reason={reason}
                    told="control-reason"
                    ask={() => want("skip", one.item)}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {process.failing > failures.length && <p class="dim">And {grouped(process.failing - failures.length)} more.</p>}
      {stopped.length > 0 && (
        <>
          <h2>Stopped instances</h2>
          <Table name="Stopped instances" heads={["Instance", ""]}>
            {stopped.map((instance) => (
              <tr key={instance}>
                <td>
                  <InstanceLink process={process} instance={instance} />
                </td>
                <td class="right">
                  <AskButton
                    name="Resume"
                    of={instance}
                    reason={reason}
                    told="control-reason"
                    ask={() => want("resume", instance)}
                  />
                </td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </>
  );
}

/// The server reads all reactions for it: asked only when it may have changed.
function Parked({ path, process, reason, want }: PartProps & { path: string }) {
  const { data, failure, reload } = useLoad(JSON.stringify([path, process.given_up, process.replays]), (signal) =>
    get<{ effects: ParkedEffect[] }>(`${path}/parked`, {}, signal),
  );
  if (failure) return <ErrorNote failure={failure} retry={reload} />;
  if (!data)
    return (
      <p class="dim" role="status">
        Asking …
      </p>
    );
  if (data.effects.length === 0) return <Empty title="No effect was given up, or all were performed since." />;
  return (
    <>
      <p class="dim" role="status">
        {plural(data.effects.length, "effect")}
      </p>
      <Table name="Effects that were given up" heads={["Instance", "Item", "Type", "Given up", "Why", ""]}>
        {data.effects.map((one) => (
          <tr key={one.item}>
            <td>
              <InstanceLink process={process} instance={one.instance} />
            </td>
            <td>
              <ItemLink item={one.item} />
            </td>
            <td>
              <Id text={one.type} />
            </td>
            <td class="c-time">
              <Time utc={one.parked_at} short />
            </td>
            <td class="why">{visible(one.reason)}</td>
            <td class="right">
              {one.replaying ? (
                <span class="dim">is performed once more</span>
              ) : (
                <AskButton
                  name="Replay"
                  of={one.item}
                  reason={reason}
                  told="control-reason"
                  ask={() => want("replay", one.item)}
                />
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function Instances({ path, process, route, reason, want }: PartProps & { path: string; route: Route }) {
  const after = route.params.get("after") ?? "";
  const page = useLoad(JSON.stringify([path, after]), (signal) =>
    get<{ instances: ProcessInstance[]; next: string | null }>(`${path}/instances`, { after, limit }, signal),
  );
  useAgain(page, askAgainMs);
  const of = (more: string | undefined) => to("processes", process.name, "instances", { after: more });
  const next = page.data?.next;
  const back = pageBefore(path, after, next);
  const rows = page.data?.instances ?? [];
  return (
    <>
      <div class="bar short">
        <Pages
          first={after === "" ? undefined : of("")}
          back={back === undefined ? undefined : of(back)}
          next={next ? of(next) : undefined}
        />
        <p class="dim" role="status">
          {page.data ? plural(rows.length, "instance") + (next ? ", and more" : "") : page.failure ? "" : "Asking …"}
        </p>
      </div>
      {page.failure && <ErrorNote failure={page.failure} retry={page.reload} />}
      {rows.length > 0 && (
        <Table name="Instances" heads={["Instance", ">Version", ">Last position", "State", ""]}>
          {rows.map((row) => (
            <tr key={row.instance}>
              <td>
                <InstanceLink process={process} instance={row.instance} />
              </td>
              <td class="right num">{grouped(row.version)}</td>
              <td class="right">
                <PositionLink position={row.last_position} />
              </td>
              <td class={row.failures.length > 0 ? "why" : ""}>
                {row.stopped && <div>stopped{process.stopped && ", with the process"}</div>}
                {row.failures.map((one) => (
                  <div key={one.item}>
                    <ItemLink item={one.item} /> {plural(one.attempts, "attempt")}: {visible(one.why)}
                  </div>
                ))}
              </td>
              <td class="right">
                <span class="pair">
                  {row.failures.length > 0 && (
                    <AskButton
                      name="Retry"
                      of={row.instance}
                      reason={reason}
                      told="control-reason"
                      ask={() => want("retry", row.instance)}
                    />
                  )}
                  {process.stopped_instances.includes(row.instance) ? (
                    <AskButton
                      name="Resume"
                      of={row.instance}
                      reason={reason}
                      told="control-reason"
                      ask={() => want("resume", row.instance)}
                    />
                  ) : (
                    <AskButton
                      name="Stop"
                      of={row.instance}
                      reason={reason}
                      told="control-reason"
                      ask={() => want("stop", row.instance)}
                    />
                  )}
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {page.data && rows.length === 0 && !page.failure && <Empty title="No instance yet." />}
    </>
  );
}

/// A head that begins with ">" stands at the right; an empty one is of buttons.
function Table({ name, heads, children }: { name: string; heads: string[]; children: ComponentChildren }) {
  return (
    <div class="wide">
      <table class="rows plain" aria-label={name}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} class={head.startsWith(">") ? "right" : ""}>
                {head === "" ? <span class="unseen">Act</span> : head.replace(">", "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
