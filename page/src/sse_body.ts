// Server-sent events out of a body: EventSource cannot POST.

export interface ServerSentEvent {
  event: string;
  data: string;
}

export async function* eventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let waiting = "";
  let event = "message";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      waiting += decoder.decode(value, { stream: true });
      const lines = waiting.split(/\r\n|\n|\r(?!$)/);
      waiting = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { event, data: data.join("\n") };
          event = "message";
          data = [];
        } else if (!line.startsWith(":")) {
          const [, name, text] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
          if (name === "event") event = text ?? "";
          if (name === "data") data.push(text ?? "");
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
