// Who one is to the server: which scopes the token of this browser has.

import { Cell } from "./cell.ts";
import { Failure, get, onUnauthorized, post, remove } from "./api.ts";
import type { Scope, Session } from "./shapes.ts";

export type SessionState =
  | { at: "asking" }
  | { at: "unreachable"; failure: Failure; session: Session | undefined }
  | { at: "here"; session: Session };

export const session = new Cell<SessionState>({ at: "asking" });
let again = 0;

export async function ask(): Promise<void> {
  clearTimeout(again);
  try {
    session.set({ at: "here", session: await get<Session>("session") });
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure("internal", String(error));
    session.set({ at: "unreachable", failure, session: known() });
    again = setTimeout(ask, 2000);
  }
}

/// The last one that the server told: while it is away, nothing changes.
const known = (): Session | undefined => (session.value.at === "asking" ? undefined : session.value.session);

export async function logIn(token: string): Promise<void> {
  await post("session", { token });
  await ask();
}

export async function logOut(): Promise<void> {
  await remove("session");
  await ask();
}

export function scopes(): Scope[] {
  return known()?.scopes ?? [];
}

/// Why something is not allowed; nothing where it is.
export function lacking(scope: Scope): string | undefined {
  const have = scopes();
  if (have.includes(scope)) return undefined;
  return `This needs a token with the scope “${scope}”; yours has ${have.length > 0 ? have.join(", ") : "none"}.`;
}

onUnauthorized(() => void ask());
