// Everything that is known of one event.

import { visible } from "../format.ts";
import { to } from "../route.ts";
import type { StoredEvent } from "../shapes.ts";
import { BytesView, JsonView } from "./json_view.tsx";
import { AggregateLink, Id, PositionLink, TagLink, Time, TypeLink } from "./links.tsx";
import { formatName, gone, PayloadView, textOf } from "./payload.tsx";

export function EventFields({ event }: { event: StoredEvent }) {
  const state = gone(event);
  return (
    <div class="event">
      <dl class="fields">
        <dt>Position</dt>
        <dd>
          <PositionLink position={event.position} />
        </dd>
        <dt>Type</dt>
        <dd>
          <TypeLink type={event.type} />
        </dd>
        {event.aggregate !== undefined && (
          <>
            <dt>Aggregate</dt>
            <dd>
              <AggregateLink id={event.aggregate} /> <span class="dim">number</span>{" "}
              <a class="id num" href={to("aggregates", event.aggregate, { from: event.seq_nr })}>
                {event.seq_nr}
              </a>
            </dd>
          </>
        )}
        {event.tags && (
          <>
            <dt>Tags</dt>
            <dd class="tags">
              {event.tags.map((tag) => (
                <TagLink key={tag} tag={tag} />
              ))}
            </dd>
          </>
        )}
        {event.also && (
          <>
            <dt>Concerns too</dt>
            <dd class="tags">
              {event.also.map((id) => (
                <AggregateLink key={id} id={id} />
              ))}
            </dd>
          </>
        )}
        <dt>Occurred at</dt>
        <dd>
          <Time utc={event.occurred_at} />
        </dd>
        <dt>Id</dt>
        <dd>
          <Id text={event.id} />
        </dd>
        <dt>Shard, offset</dt>
        <dd class="id num">
          {event.shard}, {event.offset}
        </dd>
        <dt>Format</dt>
        <dd>{formatName(event)}</dd>
        {state && (
          <>
            <dt>State</dt>
            <dd>
              <b>{visible(state)}</b>: its content is gone
            </dd>
          </>
        )}
      </dl>
      <div>
        <section>
          <h3>Payload</h3>
          <PayloadView stored={event} />
        </section>
        {event.metadata && (
          <section>
            <h3>Metadata</h3>
            {event.metadata_encoding ? (
              <BytesView base64={textOf(event.metadata)} what="the metadata" />
            ) : (
              <JsonView json={event.metadata.text} what="the metadata" />
            )}
          </section>
        )}
      </div>
    </div>
  );
}
