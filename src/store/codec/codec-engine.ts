import type { Clock } from "../../clock.ts";
import type { Logger } from "../../logger.ts";
import { isThenable } from "../../schema.ts";
import type { Dialect } from "../dialect.ts";
import type { Engine, EngineTransaction, Migrator, TransactionOptions, Wakeups } from "../engine.ts";
import type { Awaitable, ForeignInstances, ForeignStatement, ForeignTransaction } from "../foreign-transaction.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import type { InstanceInsert } from "../instances/instance-records.ts";
import type { JobStatements } from "../jobs/job-statements.ts";
import type { AppliedMigration, Migration } from "../migration.ts";
import type { BacklogStatements } from "../queue/backlog.ts";
import type { RequestStatements } from "../request-statements.ts";
import type { WorkerStatements } from "../workers/worker-statements.ts";
import type { Codec } from "./codec.ts";
import { CodecHookStatements } from "./codec-hooks.ts";
import { CodecInstanceStatements } from "./codec-instances.ts";
import { CodecScheduleStatements } from "./codec-schedules.ts";
import { CodecStreamStatements } from "./codec-streams.ts";
import { CodecSubjectStatements } from "./codec-subjects.ts";
import { locationOfEvent, locationOfHook, locationOfParams } from "./location.ts";
import { ValueCodec } from "./value-codec.ts";

/** Returns the engine itself if there is no codec, so that no call costs more. */
export function withCodec(engine: Engine, codec: Codec | null, logger: Logger): Engine {
  return codec === null ? engine : new CodecEngine(engine, new ValueCodec(codec, logger, engine.clock));
}

/**
 * An engine whose users' values go through a codec on their way into the database and out of it: params, results, events,
 * errors, payloads, cursors. Values that the database finds or orders rows by stay as they are: ids, names, keys, labels,
 * times.
 *
 * Every method is named here and in the statements beside, so that adding one to the port forces a decision about what to
 * encode.
 */
class CodecEngine implements Engine {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly hooks: CodecHookStatements;
  readonly instances: CodecInstanceStatements;
  readonly schedules: CodecScheduleStatements;
  readonly streams: CodecStreamStatements;
  readonly subjects: CodecSubjectStatements;
  /** Hashes, ids and codes: there is nothing to hide. */
  readonly requests: RequestStatements;
  /** Filters, ids and codes. */
  readonly jobs: JobStatements;
  /** Names of code and of machines. */
  readonly workers: WorkerStatements;
  /** Counts. */
  readonly backlog: BacklogStatements;
  readonly wakeups: Wakeups;
  readonly schemaMigrations: readonly Migration[];
  readonly flushesInFlight: number;
  readonly #inner: Engine;
  readonly #codec: ValueCodec;

  constructor(inner: Engine, codec: ValueCodec) {
    this.dialect = inner.dialect;
    this.clock = inner.clock;
    this.wakeups = inner.wakeups;
    this.schemaMigrations = inner.schemaMigrations;
    this.flushesInFlight = inner.flushesInFlight;
    this.hooks = new CodecHookStatements(inner.hooks, codec);
    this.instances = new CodecInstanceStatements(inner.instances, codec);
    this.schedules = new CodecScheduleStatements(inner.schedules, codec);
    this.streams = new CodecStreamStatements(inner.streams, codec);
    this.subjects = new CodecSubjectStatements(inner.subjects, codec);
    this.requests = inner.requests;
    this.jobs = inner.jobs;
    this.workers = inner.workers;
    this.backlog = inner.backlog;
    this.#inner = inner;
    this.#codec = codec;
  }

  refuseNesting(): void {
    this.#inner.refuseNesting();
  }

  transaction<Result>(
    body: (transaction: EngineTransaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result> {
    const run = (inner: EngineTransaction) =>
      body({
        client: inner.client,
        get interrupted() {
          return inner.interrupted;
        },
        ...(inner.defer && { defer: inner.defer }),
        commitInstance: async (commit) => inner.commitInstance(await this.instances.encodeCommit(commit)),
        query: (text, parameters) => inner.query(text, parameters),
        insertHooks: async (hooks) => inner.insertHooks(await this.hooks.encodeInserts(hooks)),
        settleHooks: async (settlements) => inner.settleHooks(await this.hooks.encodeSettlements(settlements)),
        takeRelays: (relay) => inner.takeRelays(relay), // a relay's payload is encoded where it is a user's
        insertInstances: async (instances) => inner.insertInstances(await this.instances.encodeInserts(instances)),
        sendEvents: async (events) => inner.sendEvents(await this.instances.encodeEvents(events)),
        joinLines: (refs) => inner.joinLines(refs),
      });
    return this.#inner.transaction(run, options);
  }

  enterForeign(transaction: ForeignTransaction): ForeignTransaction {
    return this.#inner.enterForeign?.(transaction) ?? transaction;
  }

  /** A promise only if the codec is asynchronous. */
  foreignInsert(hook: HookInsert): ForeignStatement | Promise<ForeignStatement> {
    const payload = this.#codec.encode(hook.payload, locationOfHook("payload", hook));
    const trace = hook.trace === null ? null : this.#codec.encode(hook.trace, locationOfHook("trace", hook));
    if (!isThenable(payload) && !isThenable(trace)) return this.#inner.foreignInsert({ ...hook, payload, trace });
    return Promise.all([payload, trace]).then(([payload, trace]) =>
      this.#inner.foreignInsert({ ...hook, payload, trace }),
    );
  }

  foreignInstances(
    transaction: ForeignTransaction,
    onWritten: (transactionId: string | null) => void,
  ): ForeignInstances {
    const inner = this.#inner.foreignInstances(transaction, onWritten);
    const encodeAll = (instances: readonly InstanceInsert[]) =>
      together(instances.map((one) => this.#codec.encode(one.params, locationOfParams(one))));
    return {
      insert: (instances) =>
        andThen(encodeAll(instances), (params) =>
          inner.insert(instances.map((instance, index) => ({ ...instance, params: params[index] as string }))),
        ),
      sendEvent: (event) =>
        andThen(
          this.#codec.encode(event.payload, locationOfEvent(event, { id: event.eventId, type: event.type })),
          (payload) => inner.sendEvent({ ...event, payload }),
        ),
    };
  }

  watchCommit(transactionId: string, onCommitted: () => void): () => void {
    return this.#inner.watchCommit?.(transactionId, onCommitted) ?? (() => {});
  }

  migrate(body: (migrator: Migrator) => Promise<void>): Promise<void> {
    return this.#inner.migrate(body);
  }

  appliedMigrations(): Promise<AppliedMigration[]> {
    return this.#inner.appliedMigrations();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** A promise only if one of them is. */
function together<Value>(values: readonly Awaitable<Value>[]): Awaitable<readonly Value[]> {
  return values.some(isThenable) ? Promise.all(values) : (values as readonly Value[]);
}

function andThen<Value, Result>(value: Awaitable<Value>, next: (value: Value) => Awaitable<Result>): Awaitable<Result> {
  return isThenable(value) ? (value as Promise<Value>).then(next) : next(value as Value);
}
