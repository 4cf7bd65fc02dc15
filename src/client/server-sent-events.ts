export interface ServerSentEvent {
  readonly id: string;
  readonly data: string;
}

/** Longer ones aren't ours. */
const LONGEST_EVENT = 256 * 1024 * 1024;

/** The events of a stream, as they come. Comments, which only keep the connection alive, are left out. */
export async function* readServerSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      if (rest.length > LONGEST_EVENT) throw new TypeError("An event is too long.");
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parse(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parse(block: string): ServerSentEvent | null {
  let [id, data] = ["", ""];
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  return data === "" ? null : { id, data };
}
