import type { Clock } from "../../../clock.ts";
import { StoreError } from "../../../errors.ts";
import type { InstanceCommit, InstanceCommitResult, InstanceOutcome } from "../../instances/instance-records.ts";
import { finishedTopic } from "../../queue/work-board.ts";
import type { Companion } from "../connection/accompanied-query.ts";
import type { Connection } from "../connection/connection.ts";
import type { Carrier } from "../connection/dedicated-connection.ts";
import type { PostgresClient, PostgresQueryable } from "../connection/driver.ts";
import { isUniqueViolation } from "../errors.ts";
import { commitAgain } from "../sql/instances/commit-again.ts";
import { commitInstances } from "../sql/instances/commit-instances.ts";
import { commitSteps } from "../sql/instances/commit-steps.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { PostgresStatements } from "../statements.ts";
import { toCommitResults } from "./commit-results.ts";
import { commitColumns, shapeOf } from "./instance-columns.ts";
import { toStepBatch, toStepResults } from "./step-batch.ts";

/** The commits that were written, and what their senders are told. The others were superseded. */
type Written = Map<InstanceCommit, InstanceCommitResult>;

const FINISHES: ReadonlySet<InstanceOutcome["kind"]> = new Set(["completed", "errored", "terminated"]);

/** How owners' commits are written. Batches are in the order of refs. */
export class PostgresCommits extends PostgresStatements {
  readonly #carrier: Carrier;

  constructor(connection: Connection, clock: Clock, schema: SchemaPrefix, carrier: Carrier) {
    super(connection, clock, schema);
    this.#carrier = carrier;
  }

  /** A taken position fails the whole batch. It is then sent in parts, until the superseded commit is alone. */
  async first(commits: readonly InstanceCommit[]): Promise<Written> {
    try {
      return await this.#send(commits, undefined, this.#carriedBy(commits));
    } catch (error) {
      if (commits.length === 1 && isUniqueViolation(error)) return new Map();
      throw error;
    }
  }

  /**
   * As a part of a transaction, which a taken position fails. One that reads a snapshot doesn't see that the instance was
   * paused, restarted or given to another owner since it began: that is asked outside it.
   */
  async within(transaction: PostgresQueryable, commit: InstanceCommit, readsSnapshot: boolean): Promise<Written> {
    try {
      const written = await this.#send([commit], transaction);
      if (!readsSnapshot || written.size === 0) return written;
    } catch (error) {
      if (isUniqueViolation(error)) return new Map();
      throw error;
    }
    const [held] = (await this.#send([{ ...commit, entries: [] }])).values();
    return new Map(held === undefined ? [] : [[commit, held]]);
  }

  /** Commits that may have been written before. */
  async again(commits: readonly InstanceCommit[], on?: PostgresClient): Promise<Written> {
    const { hooks } = shapeOf(commits);
    const values = [this.now(), ...commitColumns(commits, { outcomes: "any", entries: "any", hooks })];
    try {
      const { rows } = await this.connection.run(
        commitAgain(this.schema, { hooks, later: on !== undefined }),
        values,
        on,
      );
      return toCommitResults(commits, rows[0]);
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      const told = "A commit was sent again while its first sending was still under way.";
      throw new StoreError("store.unavailable", told, { cause: error, transient: true });
    }
  }

  /** Batches are announced afterwards: commits with a notification wait for each other. */
  #carriedBy([commit, ...others]: readonly InstanceCommit[]): Companion | null {
    if (commit === undefined || others.length > 0 || !FINISHES.has(commit.outcome.kind)) return null;
    return this.#carrier.carryEnd?.(finishedTopic(commit.instance.namespace)) ?? null;
  }

  async #send(
    commits: readonly InstanceCommit[],
    on?: PostgresQueryable,
    carried: Companion | null = null,
  ): Promise<Written> {
    const steps = toStepBatch(commits);
    if (steps !== null) {
      const statement = commitSteps(this.schema, steps.outcomes);
      const { rows } = await this.connection.run(statement, [this.now(), ...steps.values], on, carried);
      return toStepResults(commits, rows[0]);
    }
    const shape = shapeOf(commits);
    const values = [this.now(), ...commitColumns(commits, shape)];
    const statement = commitInstances(this.schema, { ...shape, later: on !== undefined });
    const { rows } = await this.connection.run(statement, values, on, carried);
    return toCommitResults(commits, rows[0]);
  }
}
