// Events as rows; each opens in place.

import { useState } from "preact/hooks";
import { bytes } from "../format.ts";
import { inOneLine } from "../json_lines.ts";
import type { StoredEvent } from "../shapes.ts";
import { EventFields } from "./event_fields.tsx";
import { AggregateLink, PositionLink, TagLink, Time, TypeLink } from "./links.tsx";
import { gone } from "./payload.tsx";
import { visible } from "../format.ts";

function preview(event: StoredEvent): string {
  const state = gone(event);
  if (state) return `(${state})`;
  if (event.decoded) return inOneLine(event.decoded.text, 200);
  if (!event.payload) return "";
  return event.payload_encoding
    ? `(${bytes(Math.floor(event.payload.text.length * 0.75) - 2)})`
    : inOneLine(event.payload.text, 200);
}

const tagsMax = 4;

function Row({ event, fresh }: { event: StoredEvent; fresh: boolean }) {
  const [open, setOpen] = useState(false);
  const tags = event.tags ?? [];
  return (
    <>
      <tr role="row" class={`${fresh ? "fresh" : ""} ${open ? "opened" : ""}`}>
        <td role="cell" class="c-open">
          <button
            type="button"
            class="opener"
            aria-expanded={open}
            aria-label={`Event ${event.position}: all of it`}
            onClick={() => setOpen(!open)}
          />
        </td>
        <td role="cell" class="c-position">
          <PositionLink position={event.position} />
        </td>
        <td role="cell" class="c-type">
          <TypeLink type={event.type} />
        </td>
        <td role="cell" class="c-aggregate">
          {event.aggregate !== undefined && (
            <>
              <AggregateLink id={event.aggregate} /> <span class="dim num">#{event.seq_nr}</span>
            </>
          )}
        </td>
        <td role="cell" class="c-tags">
          <div class="tags">
            {tags.slice(0, tagsMax).map((tag) => (
              <TagLink key={tag} tag={tag} />
            ))}
            {tags.length > tagsMax && <span class="dim">+{tags.length - tagsMax}</span>}
          </div>
        </td>
        <td role="cell" class="c-payload">
          <bdi>{visible(preview(event))}</bdi>
        </td>
        <td role="cell" class="c-time">
          <Time utc={event.occurred_at} short />
        </td>
      </tr>
      {open && (
        <tr role="row" class="inside">
          <td role="cell" colSpan={7}>
            <EventFields event={event} />
          </td>
        </tr>
      )}
    </>
  );
}

export function EventRows({
  events,
  label,
  freshAbove,
}: {
  events: StoredEvent[];
  label: string;
  freshAbove?: number;
}) {
  return (
    <table class="rows events" role="table" aria-label={label}>
      <thead>
        <tr role="row">
          <th role="columnheader" class="c-open">
            <span class="unseen">Open</span>
          </th>
          <th role="columnheader" class="c-position">
            Position
          </th>
          <th role="columnheader" class="c-type">
            Type
          </th>
          <th role="columnheader" class="c-aggregate">
            Aggregate
          </th>
          <th role="columnheader" class="c-tags">
            Tags
          </th>
          <th role="columnheader" class="c-payload">
            Payload
          </th>
          <th role="columnheader" class="c-time">
            Time
          </th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <Row key={event.position} event={event} fresh={freshAbove !== undefined && event.position > freshAbove} />
        ))}
      </tbody>
    </table>
  );
}
