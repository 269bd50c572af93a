// A button that copies a text; absent where the browser has no clipboard (a page without TLS that is not local).

import { useState } from "preact/hooks";

export function Copy({ text, what }: { text: string; what: string }) {
  const [said, say] = useState("Copy");
  if (!navigator.clipboard) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      say("Not allowed");
    }
    setTimeout(() => say("Copy"), 1500);
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={copy}>
      <span aria-live="polite">{said}</span>
    </button>
  );
}
