// What stands for something stored, and leads to it. Text from outside is isolated: it cannot turn its surroundings around.

import { Fragment } from "preact";
import { localTime, shortTime, visible } from "../format.ts";
import { to } from "../route.ts";

export const Id = ({ text }: { text: string }) => <bdi class="id">{visible(text)}</bdi>;

export const PositionLink = ({ position }: { position: number }) => (
  <a class="id num" href={to("events", position)}>
    {position}
  </a>
);

export const AggregateLink = ({ id, nr }: { id: string; nr?: number }) => (
  <a class="id" href={to("aggregates", id, nr === undefined ? {} : { from: nr })}>
    <bdi>{visible(id)}</bdi>
  </a>
);

/// Broken, where it must be, behind a dot.
export const TypeLink = ({ type }: { type: string }) => (
  <a class="id type" href={to("events", { type })}>
    <bdi>
      {visible(type)
        .split(/(?<=\.)/)
        .map((part, i) => (
          <Fragment key={i}>
            {i > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </bdi>
  </a>
);

export const TagLink = ({ tag }: { tag: string }) => (
  <a class="id tag" href={to("events", { tag })}>
    <bdi>{visible(tag)}</bdi>
  </a>
);

/// Local; UTC, as it was stored, when one points at it.
export const Time = ({ utc, short }: { utc: string; short?: boolean }) => (
  <time class="num" dateTime={utc} title={`${utc} (UTC, as stored)`}>
    {short ? shortTime(utc) : localTime(utc)}
  </time>
);
