import { afterAll, beforeAll, beforeEach } from "vitest";
import type {
  ClaimedHook,
  HookInsert,
  HookOutcome,
  HookRecord,
  SettleResult,
} from "../../src/store/hooks/hook-records.ts";
import type { HookStatements, InsertResult } from "../../src/store/hooks/hook-statements.ts";
import type { ClaimRequest } from "../../src/store/queue/claim-request.ts";
import type { Store } from "../../src/store/store.ts";
import { ControlledClock } from "./controlled-clock.ts";
import type { TestEngine, TestStore } from "./engines.ts";

export const COMPLETED: HookOutcome = { kind: "completed", keepMs: 0 };
export const KEPT: HookOutcome = { kind: "completed", keepMs: 60_000 };

/** A trigger without a key or options. */
export const PLAIN_TRIGGER = {
  ownId: false,
  name: "greet",
  key: null,
  triggers: 1,
  triggeredAt: null,
  payload: "null",
  retries: null,
  trace: null,
  processAt: null,
  debounce: null,
  lease: null,
} satisfies Partial<HookInsert>;
export const RELEASED: HookOutcome = { kind: "released" };
export const FAILED: HookOutcome = { kind: "failed", error: '{"message":"no"}' };
export const LEASE_MS = 30_000;

export function retryAfter(delayMs: number): HookOutcome {
  return { kind: "retry", delayMs, error: '{"message":"not yet"}' };
}

/** A database for the tests of one `describe`, and a namespace of its own for each of them. Time stands still. */
export function useStore(engine: TestEngine): StoreUnderTest {
  const subject = new StoreUnderTest();
  beforeAll(async () => {
    subject.database = await engine.create({ clock: subject.clock });
  });
  beforeEach(() => subject.nextNamespace());
  afterAll(() => subject.database?.dispose());
  return subject;
}

/** Short ways to do what most tests do. Everything is in the test's namespace; what a test doesn't say has a plain default. */
export class StoreUnderTest {
  readonly clock: ControlledClock = new ControlledClock();
  database: TestStore | undefined;
  namespace = "";
  #namespaces = 0;
  #ids = 0;
  #locks = 0;

  get store(): Store {
    if (this.database === undefined) throw new Error("The store is there only while tests run.");
    return this.database.store;
  }

  get hooks(): HookStatements {
    return this.store.hooks.statements;
  }

  nextNamespace(): void {
    this.namespace = `namespace-${++this.#namespaces}`;
    this.#ids = 0;
  }

  /** Ids rise: `hook-0001`, `hook-0002`. */
  trigger(overrides: Partial<HookInsert> = {}): HookInsert {
    return {
      namespace: this.namespace,
      id: `hook-${String(++this.#ids).padStart(4, "0")}`,
      ...PLAIN_TRIGGER,
      ...overrides,
    };
  }

  async insert(overrides: Partial<HookInsert> = {}): Promise<InsertResult> {
    const [result] = await this.hooks.insert([this.trigger(overrides)]);
    return result as InsertResult;
  }

  async insertMany(count: number, overrides: Partial<HookInsert> = {}): Promise<string[]> {
    const results = await this.hooks.insert(Array.from({ length: count }, () => this.trigger(overrides)));
    return results.map(({ id }) => id);
  }

  claim(overrides: Partial<ClaimRequest> = {}): Promise<ClaimedHook[]> {
    return this.hooks.claim({ ...this.request(), ...overrides });
  }

  request(): ClaimRequest {
    const scopes = [{ namespace: this.namespace, names: ["greet"] }];
    return { scopes, limit: 10, takeOver: true, lock: `lock-${++this.#locks}`, leaseMs: LEASE_MS };
  }

  async claimOne(overrides: Partial<ClaimRequest> = {}): Promise<ClaimedHook> {
    const claimed = await this.claim(overrides);
    if (claimed.length !== 1) throw new Error(`Expected to claim one hook, got ${claimed.length}.`);
    return claimed[0] as ClaimedHook;
  }

  async settle(hook: ClaimedHook, outcome: HookOutcome): Promise<SettleResult> {
    const { namespace, id, lock, key } = hook;
    const [result] = await this.hooks.settle([{ namespace, id, lock, keyed: key !== null, outcome }]);
    return result as SettleResult;
  }

  get(id: string): Promise<HookRecord | null> {
    return this.hooks.get({ namespace: this.namespace, id });
  }

  nextWake(names: readonly string[] = ["greet"], takeOver = true): Promise<number | null> {
    return this.hooks.nextWake([{ namespace: this.namespace, names }], { takeOver });
  }

  /** All ids of the namespace, in order. */
  async ids(): Promise<string[]> {
    const all = {
      namespace: this.namespace,
      status: null,
      after: null,
      order: "oldest",
      limit: 1000,
    } as const;
    return (await this.hooks.list(all)).map(({ id }) => id);
  }
}
