/** An event as a browser's EventSource takes it from a stream. */
export interface ReadEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** Reads a stream of Server-Sent Events, one by one. Leaving the loop cancels it. */
export async function* readEvents(response: Response): AsyncGenerator<ReadEvent, void> {
  if (response.body === null) throw new Error(`There is no stream, but ${response.status}.`);
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    rest += text;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() as string;
    for (const block of blocks) {
      const event = parse(block);
      if (event !== null) yield event;
    }
  }
  if (rest !== "") throw new Error(`The stream ended in the middle of ${rest}`);
}

/** Null for a comment. */
function parse(block: string): ReadEvent | null {
  const lines = block.split("\n").filter((line) => !line.startsWith(":"));
  if (lines.length === 0) return null;
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
  return { id: field("id"), type: field("event"), data: JSON.parse(field("data")) as Record<string, unknown> };
}
