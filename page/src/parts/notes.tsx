// What is said in place of content: errors with code and message, empty places with what to do next.

import type { ComponentChildren } from "preact";
import type { Failure } from "../api.ts";
import { visible } from "../format.ts";
import { Copy } from "./copy.tsx";

export function ErrorNote({ failure, retry }: { failure: Failure; retry?: () => void }) {
  const details = Object.entries(failure.details);
  return (
    <div class="note bad" role="alert">
      <p>
        <code class="code">{visible(failure.code)}</code> {visible(failure.message)}
      </p>
      {details.length > 0 && (
        <p class="details">
          {details.map(([name, value]) => (
            <span key={name}>
              {visible(name)} <b>{visible(typeof value === "string" ? value : JSON.stringify(value))}</b>
            </span>
          ))}
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <p class="title">{title}</p>
    {children}
  </div>
);

/// Something to paste into a shell.
export const Command = ({ text }: { text: string }) => (
  <div class="command">
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
    <Copy text={text} what="the command" />
  </div>
);

/// One word of a shell's line, whatever is in it.
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
