// A payload or a metadata, as what it is: decoded, JSON, or bytes.

import { useState } from "preact/hooks";
import { visible } from "../format.ts";
import type { Raw } from "../json_source.ts";
import type { StoredEvent } from "../shapes.ts";
import { BytesView, JsonView } from "./json_view.tsx";

interface Stored {
  payload?: Raw;
  payload_encoding?: "base64";
  payload_format?: number;
  decoded?: Raw;
  decoded_as?: string;
  decode_error?: string;
  unknown_fields?: boolean;
}

const formats: Record<number, string> = { 0: "unspecified", 1: "JSON", 2: "Protobuf", 3: "text", 4: "encrypted" };

export const formatName = (stored: Stored): string => {
  const format = stored.payload_format ?? (stored.payload && !stored.payload_encoding ? 1 : 0);
  return `${formats[format] ?? "the program’s own"} (${format})`;
};

export const textOf = (raw: Raw): string => {
  try {
    return String(JSON.parse(raw.text));
  } catch {
    return raw.text;
  }
};

export const gone = (event: StoredEvent): string | undefined => (event.state ? textOf(event.state) : undefined);

export function PayloadView({ stored }: { stored: Stored }) {
  const [raw, setRaw] = useState(false);
  const { payload, decoded } = stored;
  if (!payload && !decoded) return <p class="dim">No payload.</p>;
  const asStored =
    payload &&
    (stored.payload_encoding ? (
      <BytesView base64={textOf(payload)} what="the payload" />
    ) : (
      <JsonView json={payload.text} what="the payload" />
    ));
  return (
    <>
      {decoded && (
        <div class="tabs" role="group" aria-label="How the payload is shown">
          <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
            Decoded as <bdi>{visible(stored.decoded_as ?? "")}</bdi>
          </button>
          <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
            As stored
          </button>
        </div>
      )}
      {stored.decode_error && <p class="note warn">Not decoded: {visible(stored.decode_error)}</p>}
      {stored.unknown_fields && (
        <p class="note warn">
          The payload holds more than the registered message knows of: the types are probably older than the program.
        </p>
      )}
      {decoded && !raw ? <JsonView json={decoded.text} what="the decoded payload" /> : asStored}
    </>
  );
}
