import { StoreError } from "../../../errors.ts";
import type { InstanceCommit, InstanceCommitResult } from "../../instances/instance-records.ts";
import type { PostgresClient, PostgresQueryable } from "../connection/driver.ts";
import { isUniqueViolation } from "../errors.ts";
import { commitAgain } from "../sql/commit-again.ts";
import { commitInstances } from "../sql/commit-instances.ts";
import { commitSteps } from "../sql/commit-steps.ts";
import { PostgresStatements } from "../statements.ts";
import { toCommitResults } from "./commit-results.ts";
import { commitColumns, shapeOf } from "./instance-columns.ts";
import { toStepBatch, toStepResults } from "./step-batch.ts";

/** The commits that were written, and what their senders are told. The others were superseded. */
type Written = Map<InstanceCommit, InstanceCommitResult>;

/** How owners' commits are written. Batches are in the order of refs. */
export class PostgresCommits extends PostgresStatements {
  /** A taken position fails the whole batch. It is then sent in parts, until the superseded commit is alone. */
  async first(commits: readonly InstanceCommit[]): Promise<Written> {
    try {
      return await this.#send(commits);
    } catch (error) {
      if (commits.length === 1 && isUniqueViolation(error)) return new Map();
      throw error;
    }
  }

  /** As a part of a transaction, which a taken position fails. */
  async within(transaction: PostgresQueryable, commit: InstanceCommit): Promise<Written> {
    try {
      return await this.#send([commit], transaction);
    } catch (error) {
      if (isUniqueViolation(error)) return new Map();
      throw error;
    }
  }

  /** Commits that may have been written before. */
  async again(commits: readonly InstanceCommit[], on?: PostgresClient): Promise<Written> {
    const { hooks } = shapeOf(commits);
    const values = [this.now(), ...commitColumns(commits, { outcomes: "any", entries: "any", hooks })];
    try {
      const { rows } = await this.connection.run(commitAgain(this.schema, { hooks }), values, on);
      return toCommitResults(commits, rows[0]);
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      const told = "A commit was sent again while its first sending was still under way.";
      throw new StoreError("store.unavailable", told, { cause: error, transient: true });
    }
  }

  async #send(commits: readonly InstanceCommit[], on?: PostgresQueryable): Promise<Written> {
    const steps = toStepBatch(commits);
    if (steps !== null) {
      const statement = commitSteps(this.schema, steps.outcomes);
      const { rows } = await this.connection.run(statement, [this.now(), ...steps.values], on);
      return toStepResults(commits, rows[0]);
    }
    const shape = shapeOf(commits);
    const values = [this.now(), ...commitColumns(commits, shape)];
    const { rows } = await this.connection.run(commitInstances(this.schema, shape), values, on);
    return toCommitResults(commits, rows[0]);
  }
}
