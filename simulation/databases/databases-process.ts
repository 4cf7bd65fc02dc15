import { StoreError } from "../../src/errors.ts";
import { createDurableHooksProcessor } from "../../src/fragment/create-processor.ts";
import { defineFragment } from "../../src/fragment/define-fragment.ts";
import { Fragment } from "../../src/fragment/fragment.ts";
import { buildParts } from "../../src/fragment/instantiate.ts";
import { defineHook, type HookDefinition } from "../../src/hooks/define-hook.ts";
import type { HookContext } from "../../src/hooks/hook-context.ts";
import { DispatchLoop } from "../../src/queue/dispatch-loop.ts";
import { Processor, type ProcessorSource } from "../../src/queue/processor.ts";
import { createAdapter, Store } from "../../src/store/store.ts";
import type { Payload, TriggerRecord } from "../books/trigger-record.ts";
import { SimulatedClock } from "../machines/simulated-clock.ts";
import { SimulatedConnection } from "../machines/simulated-connection.ts";
import { NAMESPACE } from "../names.ts";
import { Lane, type World } from "../world.ts";
import type { UsedDatabase } from "./simulate-databases.ts";

/** Breaks the separation of sources of different databases on purpose. */
export type WrapSources = (sources: readonly ProcessorSource[]) => ProcessorSource[];

type WorkHooks = Readonly<Record<"work", HookDefinition<Payload, Payload>>>;

const LEASE_MS = 10_000;
const DRAIN_MS = 20_000;
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

/** A process with one processor for two databases. */
export class DatabasesProcess {
  readonly lane: Lane;
  readonly loop: DispatchLoop;
  readonly startedAt: number;
  /** How many hooks it ran while the other database couldn't be used. */
  runsBeside = 0;
  works = true;
  readonly #world: World;
  readonly #used: readonly UsedDatabase[];
  readonly #clock: SimulatedClock;
  readonly #fragments: ReadonlyMap<UsedDatabase, Fragment<WorkHooks, unknown>>;

  constructor(name: string, world: World, used: readonly UsedDatabase[], wrapSources?: WrapSources) {
    this.#world = world;
    this.#used = used;
    this.lane = new Lane(name);
    this.startedAt = world.now;
    this.#clock = new SimulatedClock(world, this.lane);
    this.#fragments = new Map(used.map((one) => [one, this.#assemble(one)]));
    const processor = createDurableHooksProcessor([...this.#fragments.values()]) as Processor;
    this.loop = new DispatchLoop({
      processor: wrapSources === undefined ? processor : new Processor(wrapSources(processor.sources)),
      owner: { name, isGone: () => false },
      concurrency: 4,
      leaseMs: LEASE_MS,
      pollIntervalMs: 2000,
      logger: SILENT,
      onError: () => {},
    });
  }

  /** The fragment of one database. */
  #assemble(used: UsedDatabase): Fragment<WorkHooks, unknown> {
    const { database, hooks, instances, faults, wakeups } = used;
    const connection = new SimulatedConnection({
      world: this.#world,
      database,
      book: hooks,
      instances,
      faults,
      lane: this.lane,
      simulation: {},
      interpose: undefined,
      clock: this.#clock,
      wakeups: wakeups.join(this.lane, true),
      stall: () => {},
      crash: () => this.kill(),
    });
    const work: WorkHooks["work"] = defineHook({}, (payload: Payload, context: HookContext) =>
      this.#handle(used, payload, context),
    );
    const store = new Store({ engine: connection, randomness: this.#world.random.fork(), logger: SILENT });
    const definition = defineFragment<undefined>(NAMESPACE)
      .provideHooks(() => ({ work }))
      .build();
    return new Fragment({
      ...buildParts(definition, undefined, { databaseAdapter: createAdapter(store) }, undefined),
      workflows: null,
    });
  }

  kill(): void {
    this.#world.note(this.lane.name, "killed");
    this.works = false;
    this.#world.close(this.lane);
  }

  async trigger(used: UsedDatabase): Promise<void> {
    const { triggers } = used.hooks;
    const record: TriggerRecord = {
      n: triggers.size + 1,
      process: this.lane.name,
      name: "work",
      key: null,
      ownId: null,
      via: "unitOfWork",
      processAt: null,
      maxAttempts: 3,
      plan: ["succeed"],
      answer: "asked",
      accepted: false,
    };
    triggers.set(record.n, record);
    this.#world.note(this.lane.name, `triggers #${record.n} in ${used.name}`);
    try {
      await this.#fragments.get(used)?.unitOfWork(async (uow) => {
        uow.triggerHook("work", { n: record.n, plan: record.plan });
      });
      record.answer = "acknowledged";
    } catch (error) {
      if (!(error instanceof StoreError)) this.#world.violate("only the store fails", String(error));
      record.answer = "unknown";
    }
  }

  /** A tick from outside: afterwards everything due in the available database has run, and the other database is no failure. */
  async drain(): Promise<void> {
    this.works = false;
    const due = this.#used.flatMap((used) =>
      [...used.hooks.accounts.values()]
        .filter(({ state, lock, availableAt }) => state === "live" && lock === null && availableAt <= this.#world.now)
        .map((account) => ({ used, account, usable: used.usableSince <= this.#world.now })),
    );
    const usable = this.#used.filter(({ usableSince }) => usableSince <= this.#world.now);
    const stillUsable = () => usable.some(({ usableSince }) => usableSince <= this.startedAt);
    try {
      await this.loop.drain(DRAIN_MS);
    } catch (error) {
      if (stillUsable()) this.#world.violate("a drain doesn't fail for one of its databases", String(error));
    }
    for (const { used, account } of due.filter((one) => one.usable && one.used.usableSince <= this.startedAt)) {
      if (account.state !== "live" || account.lock !== null) continue;
      this.#world.violate("databases don't hold up each other", `a drain left ${account.id} in ${used.name}`);
    }
    this.#world.note(this.lane.name, "has drained");
    this.#world.close(this.lane);
  }

  async #handle(used: UsedDatabase, payload: Payload, context: HookContext): Promise<void> {
    const run = used.hooks.runs.started(this.lane.name, payload, context);
    this.#world.note(this.lane.name, `runs #${payload.n} in ${used.name}`);
    if (this.#used.some(({ usableSince }) => usableSince > this.#world.now)) this.runsBeside++;
    await this.#world.delay(this.lane, this.#world.random.integer(0, 2000));
    used.hooks.runs.ended(run, "succeeded");
  }
}
