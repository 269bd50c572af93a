// The live tail behind a page of events: the newest come on top, the oldest leave.

import { useEffect } from "preact/hooks";
import { address, parsed } from "../api.ts";
import { grouped } from "../format.ts";
import { follow, type LiveState } from "../live.ts";
import type { StoredEvent } from "../shapes.ts";

export interface TailState {
  events: StoredEvent[];
  says: string;
}

const shownMax = 300;
/// However many come, the page is drawn so often.
const drawMs = 150;

export interface TailProps {
  aggregate: string;
  types: string[];
  tags: string[];
  after: number;
  change: (state: TailState) => void;
}

export function Tail({ aggregate, types, tags, after, change }: TailProps) {
  useEffect(() => {
    let last = after;
    let [count, left, behind] = [0, 0, false];
    let connection: LiveState = "connecting";
    let events: StoredEvent[] = [];
    let timer = 0;
    const says = () => {
      if (connection === "lost") return `Connection lost after position ${grouped(last)}; trying again`;
      if (connection !== "open") return connection === "paused" ? "Paused" : "Connecting …";
      return `${behind ? "Catching up" : "Live"}: ${grouped(count)} new${left > 0 ? `, the newest ${grouped(shownMax)} shown` : ""}`;
    };
    const draw = () => {
      timer = 0;
      if (events.length > shownMax) {
        left += events.length - shownMax;
        events = events.slice(0, shownMax);
      }
      change({ events, says: says() });
    };
    const soon = () => (timer ||= setTimeout(draw, drawMs));
    const end = follow({
      url: () => address("live/events", { after: last, type: types, tag: tags, concerning: aggregate }),
      on: {
        event: (data) => {
          const event = parsed<StoredEvent>(data);
          if (event.position <= last) return;
          last = event.position;
          count += 1;
          events = [event, ...events];
          soon();
        },
        caught_up: (data) => {
          behind = false;
          last = Math.max(last, parsed<{ watermark: number }>(data).watermark); // what does not match need not be looked at again
          soon();
        },
        fell_behind: () => ((behind = true), soon()),
      },
      state: (state) => ((connection = state), draw()),
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [after]);
  return null;
}
