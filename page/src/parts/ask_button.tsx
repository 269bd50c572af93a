// A button whose question is asked first; where it may not be used, with the reason.

import { visible } from "../format.ts";

export interface AskButtonProps {
  name: string;
  of?: string; // what it does that to, where there are several
  reason: string | undefined; // why it may not
  told: string; // the id of what says so
  ask: () => void;
}

export const AskButton = ({ name, of, reason, told, ask }: AskButtonProps) => (
  <button
    type="button"
    disabled={reason !== undefined}
    title={reason}
    aria-describedby={reason ? told : undefined}
    aria-label={of === undefined ? undefined : `${name} ${visible(of)}`}
    onClick={ask}
  >
    {name}
  </button>
);
