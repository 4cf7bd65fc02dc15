import { createClient } from "../../../src/client/index.ts";
import { PerdureError } from "../../../src/errors.ts";

/**
 * What a page does with the client. It is bundled for the browser, where tests call its functions: what they take and give is
 * plain data.
 */

export interface Server {
  readonly baseUrl: string;
  readonly token?: string;
  readonly retries?: number;
}

export function isSecure(): boolean {
  return (globalThis as unknown as { isSecureContext: boolean }).isSecureContext;
}

/** Creates an instance, sends it what it waits for, and describes what came out. */
export async function approve(server: Server, id: string): Promise<Record<string, unknown>> {
  const order = await createClient(server).workflows["approval"]?.create({ id, params: { at: new Date(5) } });
  if (order === undefined) throw new Error("There is no such workflow.");
  const result = order.result({ timeout: "1 minute" });
  await order.sendEvent({ type: "approved", payload: new Map([["total", 12n]]) });
  const { at, payload } = (await result) as { at: Date; payload: Map<string, bigint> };
  const { status } = await order.status();
  return { status, at: at.toISOString(), total: String(payload.get("total")) };
}

/** The code of the error that creating an instance ends with. */
export async function refusal(server: Server, id: string): Promise<string> {
  try {
    await createClient(server).workflows["approval"]?.create({ id });
  } catch (error) {
    return error instanceof PerdureError ? `${error.name} ${error.code}` : String(error);
  }
  return "none";
}

const seen: { eventId: number; type: string }[] = [];
const FOLLOWED = ["step_completed", "wait_started", "wait_completed", "workflow_completed"] as const;

/** Follows an instance to its end. What came so far is in `told`. */
export async function follow(server: Server, id: string): Promise<typeof seen> {
  const order = await createClient(server).workflows["approval"]?.get(id);
  for await (const { eventId, type } of (await order?.subscribe({ filter: FOLLOWED })) ?? [])
    seen.push({ eventId, type });
  return seen;
}

export function told(): string[] {
  return seen.map(({ type }) => type);
}

/** What a page sends that doesn't ask before: a form could. It isn't told what became of it. */
export async function sendUnasked(url: string, body: string): Promise<string> {
  const init = { method: "POST", mode: "no-cors", body, headers: { "content-type": "text/plain" } } as const;
  return (await fetch(url, init as RequestInit)).type;
}

interface Source extends EventTarget {
  readonly readyState: number;
  onerror: (() => void) | null;
}

/**
 * Reads a stream as browsers do, to its end and until the browser has come back once; gives what came, and whether it gave up.
 */
export async function readSource(url: string): Promise<{ types: string[]; closed: boolean }> {
  const { EventSource } = globalThis as unknown as { EventSource: new (url: string) => Source };
  const source = new EventSource(url);
  const types: string[] = [];
  for (const type of FOLLOWED) source.addEventListener(type, () => types.push(type));
  let errors = 0;
  await new Promise<void>((resolve) => {
    source.onerror = () => {
      if (++errors === 2) resolve(); // the end of the stream, and the answer to the next request
    };
  });
  return { types, closed: source.readyState === 2 };
}
