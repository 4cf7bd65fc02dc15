import type { Clock } from "../../clock.ts";
import type { Logger } from "../../logger.ts";
import { isThenable } from "../../schema.ts";
import type { Dialect } from "../dialect.ts";
import type { Engine, EngineTransaction, Migrator, Wakeups } from "../engine.ts";
import type { ForeignInsert } from "../foreign-transaction.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import type { AppliedMigration, Migration } from "../migration.ts";
import type { RequestStatements } from "../request-statements.ts";
import type { Codec } from "./codec.ts";
import { CodecHookStatements } from "./codec-hooks.ts";
import { CodecInstanceStatements } from "./codec-instances.ts";
import { CodecScheduleStatements } from "./codec-schedules.ts";
import { CodecStreamStatements } from "./codec-streams.ts";
import { CodecSubjectStatements } from "./codec-subjects.ts";
import { locationOfHook } from "./location.ts";
import { ValueCodec } from "./value-codec.ts";

/** Without a codec, gives the engine itself, so that no call costs more. */
export function withCodec(engine: Engine, codec: Codec | null, logger: Logger): Engine {
  return codec === null ? engine : new CodecEngine(engine, new ValueCodec(codec, logger, engine.clock));
}

/**
 * An engine whose users' values go through a codec on their way into the database and out of it: params, results, events, errors,
 * payloads, cursors. Values that the database finds or orders rows by stay as they are: ids, names, keys, labels, times.
 *
 * Every method is named here and in the statements beside, so that adding one to the port forces a decision about what to encode.
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
    this.#inner = inner;
    this.#codec = codec;
  }

  refuseNesting(): void {
    this.#inner.refuseNesting();
  }

  transaction<Result>(body: (transaction: EngineTransaction) => Promise<Result>): Promise<Result> {
    return this.#inner.transaction((inner) =>
      body({
        query: (text, parameters) => inner.query(text, parameters),
        insertHooks: async (hooks) => inner.insertHooks(await this.hooks.encodeInserts(hooks)),
        settleHooks: async (settlements) => inner.settleHooks(await this.hooks.encodeSettlements(settlements)),
      }),
    );
  }

  /** A promise only if the codec is asynchronous. */
  foreignInsert(hook: HookInsert): ForeignInsert | Promise<ForeignInsert> {
    const payload = this.#codec.encode(hook.payload, locationOfHook("payload", hook));
    const trace = hook.trace === null ? null : this.#codec.encode(hook.trace, locationOfHook("trace", hook));
    if (!isThenable(payload) && !isThenable(trace)) return this.#inner.foreignInsert({ ...hook, payload, trace });
    return Promise.all([payload, trace]).then(([payload, trace]) =>
      this.#inner.foreignInsert({ ...hook, payload, trace }),
    );
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
