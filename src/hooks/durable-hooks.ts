import { decodeCursor, encodeCursor } from "../cursor.ts";
import { explainHook } from "../monitoring/explain-hook.ts";
import type { Explanation } from "../monitoring/explanation.ts";
import { checkOptions, invalidOption } from "../options.ts";
import type { FoundRows } from "../store/compare-rows.ts";
import type { HookFilter, HookRecord, HookStatistics, HookStatus } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, shownOrUnreadable, type Unreadable, withoutStacks } from "../values/index.ts";
import { FILTER_FIELDS, type HookFilterOptions, parseHookFilter } from "./hook-filter.ts";
import { checkHookId, checkName, checkText } from "./names.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";
import { isHookSearch, type ParsedHookFilter, searchHooks } from "./search-hooks.ts";

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

/**
 * Dead letters and ids are looked up in indexes. For the other conditions, hooks are compared one after another, at most 10,000
 * for each page: then a page ends early, and its cursor continues the search.
 */
export interface HookListOptions extends HookFilterOptions {
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

type ListRange = Pick<HookFilter, "after" | "order" | "limit">;

const DEAD_LETTER_FIELDS = [...FILTER_FIELDS.filter((field) => field !== "status"), "cursor", "limit", "order"];
const LIST_FIELDS = ["status", ...DEAD_LETTER_FIELDS];
const MOST_ROWS = 1000;

/** Lists, redrives, discards and cancels the hooks of a namespace: for operators, scripts and dashboards. */
export class DurableHooks {
  readonly namespace: string;
  readonly #store: Store;
  readonly #hooks: RegisteredHooks;

  /** @internal */
  constructor(store: Store, hooks: RegisteredHooks) {
    this.#store = store;
    this.#hooks = hooks;
    this.namespace = hooks.namespace;
  }

  async get(id: string): Promise<HookSummary | null> {
    const record = await this.#store.hooks.statements.get({ namespace: this.namespace, id: checkHookId(id) });
    return record === null ? null : toSummary(record, this.#store.stackTraces);
  }

  /**
   * Says why a hook waits: what it waits for, which worker holds it, or why no worker claims it. Reads what is stored, and
   * writes nothing. Throws `hook.not_found`.
   */
  async explain(id: string): Promise<Explanation> {
    return explainHook(this.#store, this.#hooks, { namespace: this.namespace, id: checkHookId(id) });
  }

  /** One page. A cursor stays valid, however the hooks change between two pages. */
  async list(options: HookListOptions = {}): Promise<HookPage> {
    const { cursor, limit = 50, order = "newest" } = checkListOptions(options);
    const filter = parseHookFilter(options);
    const range = { after: cursor === undefined ? null : decodeCursor(cursor), order, limit: limit + 1 };
    const { found, continueAfter } = await (isHookSearch(filter)
      ? this.#search(filter, range)
      : this.#read(filter, range));
    const page = found.slice(0, limit);
    const next = found.length > limit ? (page.at(-1)?.id ?? null) : continueAfter;
    return {
      hooks: page.map((record) => toListed(record, this.#store.stackTraces)),
      nextCursor: next === null ? null : encodeCursor(next),
    };
  }

  async #read({ status }: ParsedHookFilter, range: ListRange): Promise<FoundRows<HookRecord>> {
    const found = await this.#store.hooks.statements.list({ namespace: this.namespace, status, ...range });
    return { found, continueAfter: null };
  }

  async #search(filter: ParsedHookFilter, range: ListRange): Promise<FoundRows<HookRecord>> {
    const { statements } = this.#store.hooks;
    const { found, continueAfter } = await searchHooks(statements, this.namespace, filter, range);
    const records = await statements.find(
      this.namespace,
      found.map(({ id }) => id),
    );
    const byId = new Map(records.map((record) => [record.id, record]));
    return { found: found.flatMap(({ id }) => byId.get(id) ?? []), continueAfter };
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
  const { limit, order } = options;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MOST_ROWS)) {
    throw invalidOption(`limit must be a whole number from 1 to ${MOST_ROWS}`);
  }
  if (order !== undefined && order !== "newest" && order !== "oldest")
    throw invalidOption("order must be newest or oldest");
  return options;
}

function checkIds(ids: unknown): string[] {
  const list = Array.isArray(ids) ? ids : [ids];
  if (list.length > MOST_ROWS) throw invalidOption(`At most ${MOST_ROWS} ids at a time`);
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
