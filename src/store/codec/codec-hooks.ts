import { CodecError, PerdureError } from "../../errors.ts";
import { encodeError } from "../../values/index.ts";
import type { Sending } from "../group-commit.ts";
import type { HookAdmitRequest, HookLinePlace, HookLineQuestion } from "../hooks/hook-lines.ts";
import type {
  ClaimedHook,
  HookCount,
  HookFilter,
  HookInsert,
  HookLease,
  HookOutcome,
  HookRecord,
  HookReference,
  HookSearch,
  HookSettlement,
  HookStatistics,
  SearchedHook,
  SettleResult,
} from "../hooks/hook-records.ts";
import type { CancelTarget, HookStatements, InsertResult } from "../hooks/hook-statements.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../queue/claim-request.ts";
import { locationOfHook, locationOfHookError, type ValueLocation } from "./location.ts";
import type { ValueCodec } from "./value-codec.ts";

export async function encodeTrigger(codec: ValueCodec, hook: HookInsert): Promise<HookInsert> {
  return {
    ...hook,
    payload: await codec.encode(hook.payload, locationOfHook("payload", hook)),
    trace: await codec.encodeOrNull(hook.trace, locationOfHook("trace", hook)),
  };
}

/** Hooks with their payloads, trace contexts and errors encoded. A relay's payload is a trigger that is encoded already. */
export class CodecHookStatements implements HookStatements {
  readonly #inner: HookStatements;
  readonly #codec: ValueCodec;

  constructor(inner: HookStatements, codec: ValueCodec) {
    this.#inner = inner;
    this.#codec = codec;
  }

  encodeInserts(hooks: readonly HookInsert[]): Promise<HookInsert[]> {
    return Promise.all(hooks.map((hook) => encodeTrigger(this.#codec, hook)));
  }

  encodeSettlements(settlements: readonly HookSettlement[]): Promise<HookSettlement[]> {
    const encode = async (settlement: HookSettlement): Promise<HookSettlement> => ({
      ...settlement,
      outcome: await this.#encodeOutcome(settlement.outcome, locationOfHookError(settlement)),
    });
    return Promise.all(settlements.map(encode));
  }

  async insert(hooks: readonly HookInsert[]): Promise<InsertResult[]> {
    return this.#inner.insert(await this.encodeInserts(hooks));
  }

  async claim(request: ClaimRequest): Promise<ClaimedHook[]> {
    return this.#decodeClaimed(await this.#inner.claim(request));
  }

  async admit(request: HookAdmitRequest): Promise<ClaimedHook[]> {
    return this.#decodeClaimed(await this.#inner.admit(request));
  }

  forgetStarts(keptMs: number): Promise<number> {
    return this.#inner.forgetStarts(keptMs);
  }

  #decodeClaimed(claimed: readonly ClaimedHook[]): Promise<ClaimedHook[]> {
    const decode = async (hook: ClaimedHook): Promise<ClaimedHook> => ({
      ...hook,
      payload: await this.#codec.decode(hook.payload, locationOfHook("payload", hook)),
      trace: await this.#codec.decodeOrNull(hook.trace, locationOfHook("trace", hook)),
    });
    return Promise.all(claimed.map(decode));
  }

  renew(leases: readonly HookLease[], leaseMs: number): Promise<HookLease[]> {
    return this.#inner.renew(leases, leaseMs);
  }

  async settle(settlements: readonly HookSettlement[], sending?: Sending): Promise<SettleResult[]> {
    return this.#inner.settle(await this.encodeSettlements(settlements), sending);
  }

  nextWake(scopes: readonly QueueScope[], question: WakeQuestion): Promise<number | null> {
    return this.#inner.nextWake(scopes, question);
  }

  count(counts: readonly HookCount[]): Promise<boolean[]> {
    return this.#inner.count(counts);
  }

  findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<HookLease[]> {
    return this.#inner.findLeased(namespaces, locks);
  }

  leaseTokens(namespaces: readonly string[]): Promise<string[]> {
    return this.#inner.leaseTokens(namespaces);
  }

  expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number> {
    return this.#inner.expireLeases(namespaces, locks);
  }

  async get(reference: HookReference): Promise<HookRecord | null> {
    const record = await this.#inner.get(reference);
    return record === null ? null : this.#decodeRecord(record);
  }

  placeInLine(question: HookLineQuestion): Promise<HookLinePlace> {
    return this.#inner.placeInLine(question);
  }

  async list(filter: HookFilter): Promise<HookRecord[]> {
    const records = await this.#inner.list(filter);
    return Promise.all(records.map((record) => this.#decodeRecord(record)));
  }

  async find(namespace: string, ids: readonly string[]): Promise<HookRecord[]> {
    const records = await this.#inner.find(namespace, ids);
    return Promise.all(records.map((record) => this.#decodeRecord(record)));
  }

  async search(search: HookSearch): Promise<SearchedHook[]> {
    const found = await this.#inner.search(search);
    const decode = async (hook: SearchedHook): Promise<SearchedHook> => ({
      ...hook,
      error: await this.#codec.decodeOrNull(hook.error, locationOfHookError(hook)),
    });
    return Promise.all(found.map(decode));
  }

  statistics(namespace: string): Promise<HookStatistics> {
    return this.#inner.statistics(namespace);
  }

  redrive(namespace: string, ids: readonly string[]): Promise<string[]> {
    return this.#inner.redrive(namespace, ids);
  }

  discard(namespace: string, ids: readonly string[]): Promise<string[]> {
    return this.#inner.discard(namespace, ids);
  }

  cancel(namespace: string, target: CancelTarget): Promise<{ cancelled: string[]; running: string[] }> {
    return this.#inner.cancel(namespace, target);
  }

  purge(namespace: string, limit: number): Promise<number> {
    return this.#inner.purge(namespace, limit);
  }

  async #encodeOutcome(outcome: HookOutcome, location: ValueLocation): Promise<HookOutcome> {
    if (outcome.kind !== "retry" && outcome.kind !== "failed") return outcome;
    return { ...outcome, error: await this.#encodeError(outcome.error, location) };
  }

  /** An outcome must not wait for a key service, or be lost with it: then it is written without the error. */
  async #encodeError(error: string, location: ValueLocation): Promise<string> {
    try {
      return await this.#codec.encode(error, location);
    } catch (failure) {
      if (!(failure instanceof CodecError)) throw failure;
      return encodeError(
        new PerdureError(failure.code, "The error of this attempt couldn't be encoded, and wasn't stored."),
      );
    }
  }

  async #decodeRecord(record: HookRecord): Promise<HookRecord> {
    return {
      ...record,
      payload: await this.#codec.decode(record.payload, locationOfHook("payload", record)),
      error: await this.#codec.decodeOrNull(record.error, locationOfHookError(record)),
    };
  }
}
