import { decodeCursor, encodeCursor } from "../cursor.ts";
import { InvalidInputError } from "../errors.ts";
import { explainHook } from "../monitoring/explain-hook.ts";
import type { Explanation } from "../monitoring/explanation.ts";
import { checkOptions } from "../options.ts";
import type { HookRecord, HookStatistics, HookStatus } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, shownOrUnreadable, type Unreadable, withoutStacks } from "../values/index.ts";
import { checkHookId, checkName, checkStoredName, checkText } from "./names.ts";

/** A stored hook, for operators. */
export interface HookSummary {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string | null;
  readonly status: HookStatus;
  readonly attempts: number;
  readonly payload: unknown;
  /** The error of the last failed attempt, with its stack if `stackTraces` isn't off. */
  readonly error: unknown;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  /** When it is due; while it is processing, when its lease ends; null when it is finished. */
  readonly availableAt: Date | null;
  readonly finishedAt: Date | null;
  /** In a list, set if the codec can't read the payload or the error: those are undefined then. */
  readonly unreadable?: Unreadable;
}

export interface HookListOptions {
  readonly status?: HookStatus;
  readonly name?: string;
  /** The `cursor` of the previous page. */
  readonly cursor?: string;
  /** 1 to 1000. Default: 50. */
  readonly limit?: number;
  /** Sorted by id, which is the order of triggers. Default: `newest`. */
  readonly order?: "newest" | "oldest";
}

export interface HookPage {
  readonly hooks: readonly HookSummary[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const STATUSES: readonly unknown[] = ["pending", "processing", "failed", "completed"] satisfies HookStatus[];
const DEAD_LETTER_FIELDS = ["name", "cursor", "limit", "order"];
const LIST_FIELDS = ["status", ...DEAD_LETTER_FIELDS];
const MOST_ROWS = 1000;

/** Lists, redrives, discards and cancels the hooks of a namespace: for operators, scripts and dashboards. */
export class DurableHooks {
  readonly namespace: string;
  readonly #store: Store;

  /** @internal */
  constructor(store: Store, namespace: string) {
    this.#store = store;
    this.namespace = namespace;
  }

  async get(id: string): Promise<HookSummary | null> {
    const record = await this.#store.hooks.statements.get({ namespace: this.namespace, id: checkHookId(id) });
    return record === null ? null : toSummary(record, this.#store.stackTraces);
  }

  /**
   * Says why a hook isn't further than it is: what it waits for, which worker holds it, or why no worker claims it. Reads what is
   * stored, and writes nothing. Throws `hook.not_found`.
   */
  async explain(id: string): Promise<Explanation> {
    return explainHook(this.#store, { namespace: this.namespace, id: checkHookId(id) });
  }

  /** One page. A cursor stays valid, however the hooks change between two pages. */
  async list(options: HookListOptions = {}): Promise<HookPage> {
    const { status, name, cursor, limit = 50, order = "newest" } = checkListOptions(options);
    const records = await this.#store.hooks.statements.list({
      namespace: this.namespace,
      status: status ?? null,
      name: name ?? null,
      after: cursor === undefined ? null : decodeCursor(cursor),
      order,
      limit: limit + 1,
    });
    const page = records.slice(0, limit);
    const last = page.at(-1);
    const nextCursor = records.length > limit && last !== undefined ? encodeCursor(last.id) : null;
    return { hooks: page.map((record) => toListed(record, this.#store.stackTraces)), nextCursor };
  }

  /** Lists dead letters: hooks that failed for good and wait for an operator. */
  async deadLetters(options: Omit<HookListOptions, "status"> = {}): Promise<HookPage> {
    checkOptions(options, { label: "A list of dead letters", fields: DEAD_LETTER_FIELDS });
    return this.list({ ...options, status: "failed" });
  }

  /** The number of hooks, and the age of the oldest due one. Reads all of them. */
  statistics(): Promise<HookStatistics> {
    return this.#store.hooks.statements.statistics(this.namespace);
  }

  /**
   * Queues dead letters again, with fresh attempts. Returns their ids. A dead letter whose key a newer hook holds is left as it
   * is.
   */
  async redrive(ids: string | readonly string[]): Promise<string[]> {
    this.#store.engine.refuseNesting();
    const redriven = await this.#store.hooks.statements.redrive(this.namespace, checkIds(ids));
    if (redriven.length > 0) this.#store.work.post({ namespace: this.namespace, delayMs: 0 });
    return redriven;
  }

  /** Deletes dead letters, or completed hooks that were kept. Returns their ids. */
  async discard(ids: string | readonly string[]): Promise<string[]> {
    this.#store.engine.refuseNesting();
    return this.#store.hooks.statements.discard(this.namespace, checkIds(ids));
  }

  /**
   * Cancels hooks that have not begun: deletes waiting hooks, and drops triggers that arrived while a hook runs. A running hook
   * continues. Returns the ids of both.
   */
  async cancel(target: string | { readonly name: string; readonly key: string }): Promise<CancelledHooks> {
    const checked =
      typeof target === "object" && target !== null
        ? { name: checkName(target.name, "The name of a hook"), key: checkText(target.key, "A key") }
        : { id: checkHookId(target) };
    this.#store.engine.refuseNesting();
    return this.#store.hooks.statements.cancel(this.namespace, checked);
  }
}

export interface CancelledHooks {
  readonly cancelled: readonly string[];
  readonly running: readonly string[];
}

function checkListOptions(options: HookListOptions): HookListOptions {
  checkOptions(options, { label: "A list", fields: LIST_FIELDS });
  const { status, name, limit, order } = options;
  if (status !== undefined && !STATUSES.includes(status)) throw invalid(`status must be one of ${STATUSES.join(", ")}`);
  if (name !== undefined) checkStoredName(name, "The name of a hook");
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MOST_ROWS)) {
    throw invalid(`limit must be a whole number from 1 to ${MOST_ROWS}`);
  }
  if (order !== undefined && order !== "newest" && order !== "oldest") throw invalid("order must be newest or oldest");
  return options;
}

function checkIds(ids: unknown): string[] {
  const list = Array.isArray(ids) ? ids : [ids];
  if (list.length > MOST_ROWS) throw invalid(`At most ${MOST_ROWS} ids at a time`);
  return list.map((id) => checkHookId(id));
}

function toSummary(record: HookRecord, stackTraces: boolean): HookSummary {
  return { ...toPlainSummary(record), ...toValues(record, stackTraces) };
}

/** The same for one of many. */
function toListed(record: HookRecord, stackTraces: boolean): HookSummary {
  const values = shownOrUnreadable(() => toValues(record, stackTraces));
  return { ...toPlainSummary(record), payload: undefined, error: undefined, ...values };
}

/** A user's value. Throws CodecError if it can't be read. */
function toValues({ payload, error }: HookRecord, stackTraces: boolean): Pick<HookSummary, "payload" | "error"> {
  const thrown = error === null ? null : decodeValue(error);
  return { payload: decodeValue(payload), error: stackTraces ? thrown : withoutStacks(thrown) };
}

function toPlainSummary(record: HookRecord): Omit<HookSummary, "payload" | "error"> {
  const { id, namespace, name, key, status, attempts } = record;
  const toDate = (time: number | null) => (time === null ? null : new Date(time));
  return {
    id,
    namespace,
    name,
    key,
    status,
    attempts,
    createdAt: new Date(record.createdAt),
    lastAttemptAt: toDate(record.lastAttemptAt),
    availableAt: toDate(record.availableAt),
    finishedAt: toDate(record.finishedAt),
  };
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `${problem}.`);
}
