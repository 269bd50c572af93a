// The live figures, for as long as the page is open, and the state of the connection they come by.

import { address, parsed } from "./api.ts";
import { Cell } from "./cell.ts";
import { follow, type LiveState } from "./live.ts";
import { Rates } from "./rates.ts";
import { ask } from "./session.ts";
import type { LiveStats } from "./shapes.ts";

export const rates = new Cell(new Rates());
export const connection = new Cell<LiveState>("connecting");

export function followStats(): () => void {
  // The server begins with minutes at once: drawn together, not one by one.
  let drawing = 0;
  const draw = () => {
    drawing = 0;
    rates.touch();
  };
  const take = (data: string) => {
    rates.value.add(parsed<LiveStats>(data));
    drawing ||= requestAnimationFrame(draw);
  };
  return follow({
    url: () => address("live/stats"),
    on: { stats: take, message: take },
    state: (state) => {
      // A refused stream and a lost one look the same from here: the session tells.
      if (state === "lost" && connection.value !== "lost") void ask();
      connection.set(state);
    },
    silenceMsMax: 6000,
  });
}
