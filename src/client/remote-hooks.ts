import { hookNotFound, InvalidInputError, NotFoundError, PerdureError } from "../errors.ts";
import type { CancelledHooks, DurableHooks, HookListOptions, HookPage, HookSummary } from "../hooks/durable-hooks.ts";
import { checkHookId } from "../hooks/names.ts";
import type { Explanation } from "../monitoring/explanation.ts";
import { checkOptions } from "../options.ts";
import type { HookStatistics } from "../store/hooks/hook-records.ts";
import type { Connection } from "./connection.ts";
import { fromWireExplanation, fromWireHook, textOf, toTime, type WireExplanation, type WireHook } from "./wire.ts";

/** What a client can do with hooks: as in process. */
export type ClientHooks = Pick<
  DurableHooks,
  "get" | "list" | "deadLetters" | "statistics" | "explain" | "redrive" | "discard" | "cancel"
>;

const DEAD_LETTER_FIELDS = ["name", "idPrefix", "createdFrom", "createdBefore", "error", "cursor", "limit", "order"];

/** The hooks of an application on a server. */
export class RemoteHooks implements ClientHooks {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async get(id: string): Promise<HookSummary | null> {
    try {
      const { body } = await this.#connection.send({ method: "GET", path: ["hooks", checkHookId(id)] });
      return fromWireHook(body as WireHook);
    } catch (error) {
      if (error instanceof NotFoundError && error.code === hookNotFound().code) return null;
      throw error;
    }
  }

  async list(options: HookListOptions = {}): Promise<HookPage> {
    checkOptions(options, { label: "A list", fields: ["status", ...DEAD_LETTER_FIELDS] });
    const { limit, createdFrom, createdBefore, ...others } = options;
    const times = {
      createdFrom: toTime("createdFrom", createdFrom),
      createdBefore: toTime("createdBefore", createdBefore),
    };
    const query = { ...others, ...times, limit: textOf(limit) };
    const { body } = await this.#connection.send({ method: "GET", path: ["hooks"], query });
    const { hooks, cursor } = body as { readonly hooks: readonly WireHook[]; readonly cursor: string | null };
    return { hooks: hooks.map(fromWireHook), nextCursor: cursor };
  }

  async deadLetters(options: Omit<HookListOptions, "status"> = {}): Promise<HookPage> {
    checkOptions(options, { label: "A list of dead letters", fields: DEAD_LETTER_FIELDS });
    return this.list({ ...options, status: "failed" });
  }

  async statistics(): Promise<HookStatistics> {
    const { body } = await this.#connection.send({ method: "GET", path: ["stats"] });
    const { hooks } = body as { readonly hooks?: HookStatistics };
    if (hooks !== undefined) return hooks;
    throw new PerdureError("http.forbidden", "The caller isn't allowed to see the counts of hooks.");
  }

  async explain(id: string): Promise<Explanation> {
    const { body } = await this.#connection.send({ method: "GET", path: ["hooks", checkHookId(id), "explain"] });
    return fromWireExplanation(body as WireExplanation);
  }

  redrive(ids: string | readonly string[]): Promise<string[]> {
    return this.#change("redrive", ids);
  }

  discard(ids: string | readonly string[]): Promise<string[]> {
    return this.#change("discard", ids);
  }

  async cancel(target: string | { readonly name: string; readonly key: string }): Promise<CancelledHooks> {
    const sent = typeof target === "string" ? { id: checkHookId(target) } : target;
    const { body } = await this.#connection.send({ method: "POST", path: ["hooks", "cancel"], body: sent });
    return body as CancelledHooks;
  }

  async #change(action: "redrive" | "discard", given: string | readonly string[]): Promise<string[]> {
    const ids = typeof given === "string" ? [given] : given;
    if (!Array.isArray(ids))
      throw new InvalidInputError("options.invalid", `${action} takes an id or an array of ids.`);
    if (ids.length === 0) return [];
    const { body } = await this.#connection.send({ method: "POST", path: ["hooks", action], body: { ids } });
    return (body as { readonly ids: string[] }).ids;
  }
}
