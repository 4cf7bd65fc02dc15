import { Application } from "../../src/app/perdure.ts";
import { StoreError } from "../../src/errors.ts";
import { createDurableHooksProcessor } from "../../src/fragment/create-processor.ts";
import { defineFragment } from "../../src/fragment/define-fragment.ts";
import { Fragment } from "../../src/fragment/fragment.ts";
import { buildParts } from "../../src/fragment/instantiate.ts";
import type { Logger } from "../../src/logger.ts";
import { DispatchLoop } from "../../src/queue/dispatch-loop.ts";
import type { Processor } from "../../src/queue/processor.ts";
import type { ScheduleKey } from "../../src/store/schedules/schedule-records.ts";
import { createAdapter, Store } from "../../src/store/store.ts";
import { RegisteredWorkflows } from "../../src/workflows/define/registered-workflows.ts";
import { parseWorkflowLimits } from "../../src/workflows/define/workflow-settings.ts";
import type { Workflows } from "../../src/workflows/define/workflow-types.ts";
import { withWorkflows } from "../../src/workflows/hook-supplements.ts";
import type { WorkflowRuntime } from "../../src/workflows/workflow-runtime.ts";
import type { BodyRun } from "../books/body-book.ts";
import type { HookBook } from "../books/hook-book.ts";
import type { InstanceBook } from "../books/instance-book.ts";
import type { Run } from "../books/run-book.ts";
import type { TriggerRecord } from "../books/trigger-record.ts";
import { DEFAULT_HOOK_LIMIT, NAMESPACE } from "../names.ts";
import type { Profile } from "../profile.ts";
import type { SimulationOptions } from "../simulation-options.ts";
import { createHooks, type SimulatedHooks } from "../workloads/handlers.ts";
import { PENDING_EVENTS } from "../workloads/limits.ts";
import { CODE_VERSIONS, type CodeVersion } from "../workloads/program-schedules.ts";
import { createWorkflows } from "../workloads/programs.ts";
import { Lane, type World } from "../world.ts";
import type { Faults } from "./faults.ts";
import { SimulatedClock } from "./simulated-clock.ts";
import { SimulatedConnection } from "./simulated-connection.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import type { WakeupNetwork } from "./simulated-wakeups.ts";

/** The beginning of the warning that code has diverged from a history. */
const DIVERGED = "The code calls a new step where the history has another";

/** How long errands drain: some for less than most waits take. */
const ERRANDS_MS = [10_000, 1500, 300] as const;

/** What all processes of a world share. */
export interface Surroundings {
  readonly world: World;
  readonly database: SimulatedDatabase;
  readonly book: HookBook;
  readonly instances: InstanceBook;
  readonly faults: Faults;
  readonly wakeups: WakeupNetwork;
  readonly profile: Profile;
  readonly options: SimulationOptions;
  /** Whether the process that holds this token is known to have ended. */
  readonly isGone: (owner: string) => boolean;
  /** Called when a handler is called while a call for the same row is under way in another process. */
  readonly watchOverlap: (earlier: Run | BodyRun, later: Run | BodyRun) => void;
}

/**
 * The role of a process: a worker runs hooks for as long as it lives, an errand runs due work and ends, a client only triggers.
 */
export type Role = "worker" | "errand" | "client";

/** A process with a store, a dispatcher and handlers of its own: what it keeps in memory dies with it. */
export class SimulatedProcess {
  readonly name: string;
  readonly role: Role;
  readonly surroundings: Surroundings;
  readonly startedAt: number;
  readonly lane: Lane;
  readonly clock: SimulatedClock;
  readonly fragment: Fragment<SimulatedHooks, unknown>;
  readonly application: Application<SimulatedHooks, Workflows>;
  readonly processor: Processor;
  readonly loop: DispatchLoop;
  /** The schedules in its code. */
  readonly version: CodeVersion;
  stopping = false;
  readonly #connection: SimulatedConnection;

  constructor(name: string, role: Role, surroundings: Surroundings) {
    const { world, database, book, instances, faults, wakeups, profile, isGone } = surroundings;
    this.name = name;
    this.role = role;
    this.surroundings = surroundings;
    this.startedAt = world.now;
    this.lane = new Lane(name);
    this.clock = new SimulatedClock(world, this.lane);
    this.clock.skew = world.random.chance(0.3) ? world.random.integer(-7_200_000, 7_200_000) : 0;
    this.version = profile.scheduled ? world.random.pick(CODE_VERSIONS) : "none";
    const { interpose } = surroundings.options;
    const crash = (reason: string) => this.kill(reason);
    const stall = () => this.freeze(world.random.integer(1, profile.leaseMs * 2));
    this.#connection = new SimulatedConnection({
      world,
      database,
      book,
      instances,
      faults,
      lane: this.lane,
      simulation: surroundings.options,
      interpose: interpose && ((call, moment) => interpose(call, moment, this)),
      clock: this.clock,
      wakeups: wakeups.join(this.lane, profile.connected),
      stall,
      crash,
    });
    const logger = this.#logger();
    const store = new Store({ engine: this.#connection, randomness: world.random.fork(), logger });
    const hooks = profile.subject === "workflows" ? ({} as SimulatedHooks) : createHooks(() => this);
    const definition = defineFragment<undefined>(NAMESPACE)
      .provideHooks(() => hooks)
      .build();
    const durableHooks = { stuckProcessingTimeoutMinutes: 1, keepCompleted: profile.keepMs };
    const code = { version: this.version, told: profile.told, retentionMs: profile.retentionMs };
    const workflows = profile.subject === "hooks" ? {} : createWorkflows(() => this, code);
    const limits = parseWorkflowLimits({ pendingEvents: PENDING_EVENTS });
    const registered = new RegisteredWorkflows(NAMESPACE, workflows, limits, undefined);
    const adapter = { databaseAdapter: createAdapter(store), durableHooks };
    const parts = withWorkflows(registered, (supplements) => buildParts(definition, undefined, adapter, supplements));
    this.fragment = new Fragment(parts);
    this.application = new Application(this.fragment, null, false);
    this.processor = createDurableHooksProcessor(this.fragment) as Processor;
    this.loop = new DispatchLoop({
      processor: this.processor,
      owner: { name, isGone },
      concurrency: profile.concurrency,
      leaseMs: profile.leaseMs,
      pollIntervalMs: 2000,
      logger,
      onError: (error, { attempt }) => {
        if (attempt !== null) return;
        world.note(name, `reports: ${error instanceof Error ? error.message : String(error)}`);
      },
    });
  }

  start(): void {
    const { skew } = this.clock;
    this.surroundings.world.note(this.name, `starts as a ${this.role}${skew === 0 ? "" : `, ${skew} ms wrong`}`);
    if (this.role === "worker") this.loop.start();
    if (this.role === "errand") void this.#leave("errand", () => this.loop.drain(this.#errandMs));
  }

  /** Whether it claims due work. */
  get works(): boolean {
    return this.role === "worker" && !this.stopping && !this.lane.closed;
  }

  /** Ends at once, without any shutdown. */
  kill(reason: string): void {
    if (this.lane.closed) return;
    this.surroundings.world.note(this.name, `killed: ${reason}`);
    this.#end();
  }

  /** Is suspended, and doesn't notice. */
  freeze(milliseconds: number): void {
    this.surroundings.world.note(this.name, `stands still for ${milliseconds} ms`);
    if (this.surroundings.options.stoppedClocks) this.clock.lose(milliseconds);
    this.#connection.wire.unharmed = false;
    this.lane.frozenUntil = this.surroundings.world.now + milliseconds;
  }

  /** As on SIGTERM. */
  async stop(deadlineMs: number): Promise<void> {
    this.surroundings.world.note(this.name, `stops within ${deadlineMs} ms`);
    await this.#leave("stop", () => this.loop.stop(deadlineMs));
  }

  /** The names of a workflow's schedules, as its code has them. */
  schedulesOf(workflow: string): string[] {
    const known = (this.fragment.parts.workflows as WorkflowRuntime).workflows.find(workflow)?.schedules ?? [];
    return known.map(({ name }) => name);
  }

  hasSchedule({ workflow, name, cron, timezone }: Omit<ScheduleKey, "namespace">): boolean {
    const known = (this.fragment.parts.workflows as WorkflowRuntime).workflows.find(workflow)?.schedules ?? [];
    return known.some(({ name: own, times }) => own === name && times.cron === cron && times.timezone === timezone);
  }

  /** Triggers a hook with an id: however often, it takes effect once. */
  async triggerOnce(id: string): Promise<void> {
    const record = this.ask({ ownId: id });
    await this.application.hooks.work.trigger({ n: record.n, plan: record.plan }, { id });
    record.answer = "acknowledged";
  }

  /** Enters a trigger into the ledger before it is sent. */
  ask(trigger: Partial<TriggerRecord>): TriggerRecord {
    const { triggers } = this.surroundings.book;
    const record: TriggerRecord = {
      n: triggers.size + 1,
      process: this.name,
      name: "work",
      key: null,
      ownId: null,
      via: "trigger",
      processAt: null,
      maxAttempts: DEFAULT_HOOK_LIMIT + 1,
      plan: ["succeed"],
      answer: "asked",
      accepted: false,
      ...trigger,
    };
    triggers.set(record.n, record);
    return record;
  }

  get #errandMs(): number {
    return ERRANDS_MS[Number(this.name.slice(1)) % ERRANDS_MS.length] as number;
  }

  /** Shuts down in good order. Afterwards it owns nothing, unless a call was lost or late: then ownership is unknown. */
  async #leave(what: string, leave: () => Promise<void>): Promise<void> {
    this.stopping = true;
    const { world, book, instances } = this.surroundings;
    try {
      await leave();
    } catch (error) {
      if (!(error instanceof StoreError)) world.violate("only the store fails", `${what}: ${String(error)}`);
    }
    world.note(this.name, "has ended");
    const asking = [...book.triggers.values()].some(
      ({ process, answer }) => process === this.name && answer === "asked",
    );
    for (const { id, state, lock } of book.accounts.values()) {
      if (asking || !this.#connection.wire.unharmed || state !== "live" || !lock?.startsWith(`${this.name}#`)) continue;
      world.violate("who stops owns nothing", `${this.name} still has ${id}`);
    }
    for (const { ref, held, lock } of instances.accounts.values()) {
      if (instances.isAsking(this.name) || !this.#connection.wire.unharmed) continue;
      if (held && lock?.startsWith(`${this.name}#`)) world.violate("who stops owns nothing", `${this.name} has ${ref}`);
    }
    this.#end();
  }

  #end(): void {
    this.surroundings.world.close(this.lane);
    this.#connection.died();
  }

  #logger(): Logger {
    const { world } = this.surroundings;
    const note = (message: string) => {
      world.note(this.name, `logs: ${message}`);
      // The programs of a world never change, so none of them diverges, wherever it was interrupted.
      if (message.startsWith(DIVERGED)) world.violate("unchanged code matches every history", message);
    };
    return { info: note, warn: note, error: note };
  }
}
