import { signal } from "@preact/signals";
import type { Operation, Session } from "./types.ts";

/** The path at which the dashboard is mounted. The page is served with it, and all URLs begin with it. */
export const BASE: string = document.querySelector<HTMLMetaElement>('meta[name="perdure-base"]')?.content ?? "";

/** What this caller may do; null until it is known. */
export const session = signal<Session | null>(null);

/** Why the server no longer knows the caller; null while it does. */
export const signedOut = signal<string | null>(null);

export function may(operation: Operation): boolean {
  return session.value?.operations.includes(operation) ?? false;
}

/** Whether the caller sees users' values, and the messages of errors. */
export function seesPayloads(): boolean {
  return session.value?.payloads ?? false;
}

/** An answer that isn't a success. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Parts of a path, each escaped. */
export function path(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join("");
}

/** Who the caller is to the server. Where it isn't let in any more, `signedOut` says why. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await request<Session>(`${BASE}/session`, {});
    signedOut.value = null;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) signedOut.value = error.message;
    throw error;
  }
}

/** A question to the API. */
export function get<Answer>(url: string, signal?: AbortSignal): Promise<Answer> {
  return request<Answer>(`${BASE}/api${url}`, signal === undefined ? {} : { signal });
}

/** A change. The header shows the server that no page of another site has sent it. */
export function change<Answer = unknown>(
  url: string,
  body: unknown = {},
  { method = "POST", key }: { readonly method?: "POST" | "DELETE"; readonly key?: string } = {},
): Promise<Answer> {
  const headers: Record<string, string> = { "perdure-dashboard": "1" };
  if (key !== undefined) headers["idempotency-key"] = key;
  if (method === "DELETE") return request<Answer>(`${BASE}/api${url}`, { method, headers });
  headers["content-type"] = "application/json";
  return request<Answer>(`${BASE}/api${url}`, { method, headers, body: JSON.stringify(body) });
}

async function request<Answer>(url: string, init: RequestInit): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(url, {
      ...init,
      credentials: "same-origin",
      headers: { accept: "application/json", ...init.headers },
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The server can't be reached.");
  }
  if (response.status === 204) return undefined as Answer;
  const body: unknown = await response.json().catch(() => null);
  if (response.ok) {
    signedOut.value = null;
    return body as Answer;
  }
  const { code = "http.internal", message = `The server answered ${response.status}.` } = (body ??
    {}) as Partial<ApiError>;
  if (response.status === 401) signedOut.value = message;
  throw new ApiError(response.status, code, message);
}

/** A query string: undefined, empty and null values are left out, and lists repeat their name. */
export function query(
  fields: Readonly<Record<string, string | number | readonly string[] | null | undefined>>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
