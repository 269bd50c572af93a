// The settings, and where each came from.

import { useId, useState } from "preact/hooks";
import { get } from "../api.ts";
import { grouped, visible } from "../format.ts";
import { useLoad } from "../load.ts";
import { Empty, ErrorNote } from "../parts/notes.tsx";
import type { Setting } from "../shapes.ts";

const text = (value: unknown): string =>
  typeof value === "number" ? grouped(value) : typeof value === "string" ? value : JSON.stringify(value);

export function SettingsView() {
  const { data, failure, reload } = useLoad("settings", (signal) =>
    get<{ settings: Setting[] }>("settings", {}, signal),
  );
  const [filter, setFilter] = useState("");
  const [changed, setChanged] = useState(false);
  const id = useId();
  const words = filter.toLowerCase().split(/\s+/);
  const all = data?.settings ?? [];
  const shown = all.filter(
    (setting) =>
      (!changed || setting.source !== "default") &&
      words.every((word) =>
        `${setting.group} ${setting.name} ${text(setting.value)} ${setting.source} ${setting.sentence}`
          .toLowerCase()
          .includes(word),
      ),
  );
  const groups = [...new Set(shown.map(({ group }) => group))];
  return (
    <>
      <h1 tabIndex={-1}>Settings</h1>
      <div class="filters" role="search">
        <div class="field">
          <label for={id}>Filter</label>
          <input
            id={id}
            type="search"
            value={filter}
            placeholder="name, value, source"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </div>
        <label class="check">
          <input type="checkbox" checked={changed} onChange={(event) => setChanged(event.currentTarget.checked)} /> Only
          those that were set
        </label>
        <p class="dim" role="status">
          {data ? `${grouped(shown.length)} of ${grouped(all.length)}` : failure ? "" : "Asking …"}
        </p>
      </div>
      {failure && <ErrorNote failure={failure} retry={reload} />}
      {groups.length > 0 && (
        <table class="rows plain settings" aria-label="Settings">
          <thead>
            <tr>
              <th>Setting</th>
              <th>Value</th>
              <th>Source</th>
              <th>Default</th>
            </tr>
          </thead>
          {groups.map((group) => (
            <tbody key={group}>
              <tr class="group">
                <th scope="rowgroup" colSpan={4}>
                  {visible(group)}
                </th>
              </tr>
              {shown
                .filter((setting) => setting.group === group)
                .map((setting) => (
                  <tr key={setting.name}>
                    <td>
                      <span class="id">{visible(setting.name)}</span>
                      <span class="dim sentence">{visible(setting.sentence)}</span>
                    </td>
                    <td class={`id ${setting.source === "default" ? "" : "set"}`}>{value(setting.value)}</td>
                    <td class={setting.source === "default" ? "dim" : ""}>{visible(setting.source)}</td>
                    <td class="id dim">{value(setting.default)}</td>
                  </tr>
                ))}
            </tbody>
          ))}
        </table>
      )}
      {data && shown.length === 0 && (
        <Empty title="No setting matches.">
          <p>
            <button type="button" onClick={() => (setFilter(""), setChanged(false))}>
              Show all
            </button>
          </p>
        </Empty>
      )}
    </>
  );
}

const value = (one: unknown) =>
  one === "" || one === null || one === undefined ? <span class="dim">–</span> : <bdi>{visible(text(one))}</bdi>;
