// Stored JSON, laid out and coloured; big ones cut, with all of it a click away.

import { useMemo, useState } from "preact/hooks";
import { bytes, visible } from "../format.ts";
import { layOut } from "../json_lines.ts";
import { Copy } from "./copy.tsx";

const charsMax = 6000;
const linesMax = 160;
/// More would make the browser slow: it is shown as it stands, without colours.
const colouredCharsMax = 300_000;

export function JsonView({ json, what }: { json: string; what: string }) {
  const [all, setAll] = useState(false);
  const plain = all && json.length > colouredCharsMax;
  const layout = useMemo(
    () => (plain ? { lines: [], cut: false } : layOut(json, all ? Infinity : charsMax, all ? Infinity : linesMax)),
    [json, all, plain],
  );
  return (
    <div class="json">
      <pre tabIndex={0} aria-label={what}>
        <code>
          {plain
            ? visible(json)
            : layout.lines.map((line, i) => (
                <span key={i} class="line">
                  {"  ".repeat(Math.min(line.depth, 40))}
                  {line.tokens.map((token, k) => (
                    <span key={k} class={token.kind}>
                      {visible(token.text)}
                    </span>
                  ))}
                  {"\n"}
                </span>
              ))}
        </code>
      </pre>
      <div class="tools">
        {layout.cut && (
          <button type="button" onClick={() => setAll(true)}>
            Show all, {bytes(json.length)}
          </button>
        )}
        <Copy text={json} what={what} />
      </div>
    </div>
  );
}

/// Bytes that are no JSON: base64, as they came.
export function BytesView({ base64, what }: { base64: string; what: string }) {
  const [all, setAll] = useState(false);
  const size = Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
  const cut = !all && base64.length > 2000;
  return (
    <div class="json">
      <p class="dim">{bytes(size)}, shown as base64</p>
      <pre class="wrap" tabIndex={0} aria-label={what}>
        <code>{cut ? `${base64.slice(0, 2000)}…` : base64}</code>
      </pre>
      <div class="tools">
        {cut && (
          <button type="button" onClick={() => setAll(true)}>
            Show all
          </button>
        )}
        <Copy text={base64} what={what} />
      </div>
    </div>
  );
}
