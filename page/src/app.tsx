// The frame: where one can go, how the server is, and the view one is in.

import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { useCell } from "./cell.ts";
import { grouped } from "./format.ts";
import { askGrpcPort, grpcPort, isNode } from "./grpc_server.ts";
import { connection, followStats, rates } from "./live_stats.ts";
import { ErrorNote } from "./parts/notes.tsx";
import { Failure } from "./api.ts";
import { go, type Route, useRoute } from "./route.ts";
import { lacking, logOut, scopes, session } from "./session.ts";
import type { Scope } from "./shapes.ts";
import { choose, theme, themes } from "./theme.ts";
import { AggregateView } from "./views/aggregate.tsx";
import { AggregatesView } from "./views/aggregates.tsx";
import { ClusterView } from "./views/cluster.tsx";
import { ConditionView } from "./views/condition.tsx";
import { EventView } from "./views/event.tsx";
import { EventsView } from "./views/events.tsx";
import { KeysHelp } from "./views/keys.tsx";
import { LoginView } from "./views/login.tsx";
import { OverviewView } from "./views/overview.tsx";
import { ProcessView } from "./views/process.tsx";
import { ProcessesView } from "./views/processes.tsx";
import { QueryView } from "./views/query.tsx";
import { ScheduledView } from "./views/scheduled.tsx";
import { SettingsView } from "./views/settings.tsx";
import { TimersView } from "./views/timers.tsx";

interface Place {
  name: string;
  title: string;
  key: string;
  scope: Scope;
  view: (route: Route) => ComponentChildren;
  ofNodes?: true; // only a node of a cluster has it
}

const places: Place[] = [
  { name: "", title: "Overview", key: "o", scope: "read", view: () => <OverviewView /> },
  {
    name: "events",
    title: "Events",
    key: "e",
    scope: "read",
    view: (r) => (r.path[1] ? <EventView position={r.path[1]} /> : <EventsView route={r} />),
  },
  {
    name: "aggregates",
    title: "Aggregates",
    key: "a",
    scope: "read",
    view: (r) => (r.path[1] ? <AggregateView route={r} id={r.path[1]} /> : <AggregatesView route={r} />),
  },
  { name: "query", title: "Query", key: "q", scope: "read", view: (r) => <QueryView route={r} /> },
  { name: "condition", title: "Condition", key: "c", scope: "read", view: (r) => <ConditionView route={r} /> },
  { name: "scheduled", title: "Scheduled", key: "d", scope: "read", view: (r) => <ScheduledView route={r} /> },
  {
    name: "processes",
    title: "Processes",
    key: "p",
    scope: "read",
    view: (r) => (r.path[1] ? <ProcessView route={r} name={r.path[1]} /> : <ProcessesView />),
  },
  { name: "timers", title: "Timers", key: "t", scope: "read", view: (r) => <TimersView route={r} /> },
  { name: "cluster", title: "Cluster", key: "n", scope: "admin", view: () => <ClusterView />, ofNodes: true },
  { name: "settings", title: "Settings", key: "s", scope: "admin", view: () => <SettingsView /> },
];

export function App() {
  const state = useCell(session);
  if (state.at === "asking")
    return (
      <p class="lone" role="status">
        Asking the server …
      </p>
    );
  if (state.at === "here" && !state.session.open && state.session.scopes.length === 0) return <LoginView />;
  if (state.at === "unreachable" && !state.session) {
    return (
      <div class="lone">
        <h1>Evershard</h1>
        <ErrorNote failure={state.failure} />
        <p class="dim">
          Asking again every two seconds. On the server: <code>systemctl status evershard</code>
        </p>
      </div>
    );
  }
  return <Frame />;
}

function Frame() {
  const route = useRoute();
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const place = places.find(({ name }) => name === (route.path[0] ?? ""));
  const isOfNode = useCell(isNode);
  const shown = places.filter(({ ofNodes }) => !ofNodes || isOfNode);
  const scopesNow = scopes().join();
  useEffect(() => (scopesNow.includes("read") ? followStats() : undefined), [scopesNow]);
  useEffect(() => void (scopesNow.includes("read") && askGrpcPort()), [scopesNow]);
  useCell(grpcPort);
  useShortcuts(() => setHelp(true));

  const where = route.path.join("/");
  const first = useRef(true);
  useEffect(() => {
    document.title = `${route.path[1] ?? place?.title ?? "Not found"} · Evershard`;
    if (first.current) first.current = false;
    else main.current?.querySelector("h1")?.focus();
    scrollTo(0, 0);
  }, [where]);

  const lacks = place && lacking(place.scope);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href="#/">
          <Mark />
          Evershard
        </a>
        <nav aria-label="Views">
          {shown.map(({ name, title, scope }) => (
            <a
              key={name}
              href={`#/${name}`}
              aria-current={place?.name === name ? "page" : undefined}
              aria-disabled={lacking(scope) ? "true" : undefined}
              title={lacking(scope)}
            >
              {title}
              {lacking(scope) && <span class="lock">needs {scope}</span>}
            </a>
          ))}
        </nav>
        <div class="foot">
          <Connection />
          <ThemeSwitch />
          <div class="row">
            <button type="button" class="link aside" onClick={() => setHelp(true)}>
              Keys
            </button>
            <a class="aside" href="/assets/licenses.txt">
              Licences
            </a>
            <LogOut />
          </div>
        </div>
      </header>
      <main ref={main} id="main" tabIndex={-1}>
        <LostNote />
        {!place ? (
          <NotFound />
        ) : lacks ? (
          <Refused title={place.title} reason={lacks} />
        ) : (
          <Guard key={place.name + where}>{place.view(route)}</Guard>
        )}
      </main>
      {help && <KeysHelp places={shown} close={() => setHelp(false)} />}
    </>
  );
}

/// Never a blank page: a view that fails says so.
function Guard({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  if (!error) return <>{children}</>;
  return (
    <>
      <h1 tabIndex={-1}>This view has failed</h1>
      <ErrorNote failure={new Failure("page", String(error))} />
      <button type="button" onClick={reset}>
        Try again
      </button>
    </>
  );
}

const Mark = () => (
  <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
    <rect width="16" height="16" rx="3.5" />
    <path d="M4 4.5h8M4 8h5.5M4 11.5h8" />
  </svg>
);

const NotFound = () => (
  <>
    <h1 tabIndex={-1}>Not found</h1>
    <p>
      There is no such view. <a href="#/">Go to the overview</a>
    </p>
  </>
);

const Refused = ({ title, reason }: { title: string; reason: string }) => (
  <>
    <h1 tabIndex={-1}>{title}</h1>
    <p class="note warn" role="status">
      {reason} Log out and log in with another one.
    </p>
  </>
);

const words = { connecting: "Connecting …", open: "Live", lost: "Connection lost", paused: "Paused" };

function Connection() {
  const state = useCell(connection);
  const { last } = useCell(rates);
  if (lacking("read")) return null;
  return (
    <p class={`connection ${state}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{words[state]}</span>
      {last && (
        <span class="dim num" title="The head: the last position">
          {grouped(last.head)}
        </span>
      )}
    </p>
  );
}

function LostNote() {
  const state = useCell(connection);
  if (state !== "lost") return null;
  return (
    <p class="note bad" role="alert">
      <b>The connection to the server is lost.</b> Figures are as they were; trying again.
    </p>
  );
}

const themeNames = { system: "Auto", light: "Light", dark: "Dark" };

function ThemeSwitch() {
  const chosen = useCell(theme);
  return (
    <fieldset class="switch">
      <legend class="unseen">Colours</legend>
      {themes.map((value) => (
        <label key={value}>
          <input type="radio" name="theme" checked={chosen === value} onChange={() => choose(value)} />
          <span>{themeNames[value]}</span>
        </label>
      ))}
    </fieldset>
  );
}

function LogOut() {
  const [failed, setFailed] = useState(false);
  const state = useCell(session);
  if (state.at === "asking" || !state.session || state.session.open) return null;
  return (
    <button type="button" class="link" onClick={() => logOut().catch(() => setFailed(true))}>
      {failed ? "Log out: failed, again" : "Log out"}
    </button>
  );
}

function useShortcuts(help: () => void): void {
  const armed = useRef(0);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        target.closest("input:not([type=radio],[type=checkbox]), textarea, select, dialog")
      )
        return;
      if (Date.now() - armed.current < 1500) {
        armed.current = 0;
        const place = places.find(({ key }) => key === event.key);
        if (place) go(`#/${place.name}`);
      } else if (event.key === "g") {
        armed.current = Date.now();
      } else if (event.key === "?") {
        help();
      } else if (event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("main input[type=search], main input[type=text]");
        if (!field) return;
        event.preventDefault();
        field.focus();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
