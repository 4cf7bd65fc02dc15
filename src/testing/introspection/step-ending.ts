import type { HistoryItem } from "../../workflows/instances/history-page.ts";
import type { WorkflowInstance } from "../../workflows/instances/instance.ts";
import type { StepTarget } from "./modifier.ts";

export type FoundEnding = { readonly value: unknown } | { readonly error: Error };

const PAGE = 1000;

/** How a step of the present run has ended; null if it hasn't. */
export async function findStepEnding(
  instance: WorkflowInstance,
  { name, index = 1 }: StepTarget,
  openStream: (entry: HistoryItem) => Promise<ReadableStream | null>,
): Promise<FoundEnding | null> {
  for await (const entry of entriesOf(instance)) {
    if (entry.name !== name || entry.count !== index) continue;
    const stream = isStream(entry.output) ? await openStream(entry) : null;
    if (stream !== null) return { value: stream };
    const ending = toEnding(entry);
    if (ending !== null) return ending;
  }
  return null;
}

async function* entriesOf(instance: WorkflowInstance): AsyncGenerator<HistoryItem> {
  const { run } = await instance.history({ limit: 1 });
  let cursor: string | null | undefined;
  do {
    const page = await instance.history({ run, limit: PAGE, ...(cursor ? { cursor } : {}) });
    yield* page.entries;
    cursor = page.cursor;
  } while (cursor !== null);
}

function toEnding({ kind, output, error, dueAt, event }: HistoryItem): FoundEnding | null {
  if (kind === "completed") return { value: output };
  if (kind === "received") return { value: event?.payload };
  if (kind === "timedOut") return { error: namedError("EventTimeoutError", "No event came in time.") };
  if (kind !== "failed" || dueAt !== undefined) return null;
  return { error: namedError(error?.name ?? "Error", error?.message ?? "") };
}

/** What a history shows of a stream. */
function isStream(output: unknown): boolean {
  return typeof output === "object" && output !== null && "stream" in output;
}

function namedError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
