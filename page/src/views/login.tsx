// The door: a token, kept by the browser as a cookie that no script can read.

import { useId, useState } from "preact/hooks";
import { Failure } from "../api.ts";
import { ErrorNote } from "../parts/notes.tsx";
import { logIn } from "../session.ts";

export function LoginView() {
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const id = useId();
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await logIn(token.trim());
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure("page", String(error)));
      setBusy(false);
    }
  };
  return (
    <main class="lone login">
      <h1>Evershard</h1>
      <p>This server wants a token.</p>
      <form onSubmit={submit}>
        <div class="field">
          <label for={id}>Token</label>
          <input
            id={id}
            type="password"
            value={token}
            autocomplete="current-password"
            spellcheck={false}
            autofocus
            required
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </div>
        <button type="submit" class="main" disabled={busy}>
          {busy ? "Asking …" : "Log in"}
        </button>
      </form>
      {failure && <ErrorNote failure={failure} />}
      <p class="dim">
        Tokens, and what they allow (read, append, admin), are in the file that the server’s setting <code>tokens</code>{" "}
        names.
      </p>
    </main>
  );
}
