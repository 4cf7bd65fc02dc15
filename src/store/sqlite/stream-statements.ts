import type { InstanceLease } from "../instances/instance-records.ts";
import { WorkClass } from "../queue/work-class.ts";
import type { StreamChunk, StreamRange } from "../streams/stream-records.ts";
import type { StreamStatements } from "../streams/stream-statements.ts";
import type { SqliteAccess } from "./drivers/driver.ts";
import { FIND_RUN } from "./sql/instances-commit.ts";
import { READ_CHUNK, WIPE_RUNS, WIPE_STREAMS, WRITE_CHUNK } from "./sql/streams.ts";

export class SqliteStreamStatements implements StreamStatements {
  readonly #access: SqliteAccess;

  constructor(access: SqliteAccess) {
    this.#access = access;
  }

  write({ ref, run, lock }: InstanceLease, { stream, number, data }: StreamChunk): Promise<boolean> {
    const { driver } = this.#access;
    return this.#access.write(() => {
      if (!this.#isHeld({ ref, run, lock })) return false;
      driver.run(WRITE_CHUNK, [ref, stream, number, run, data]);
      return true;
    });
  }

  async read(ref: string, stream: string, number: number): Promise<Uint8Array | null> {
    const [row] = await this.#access.read(() => this.#access.driver.all(READ_CHUNK, [ref, stream, number]));
    return row === undefined ? null : new Uint8Array(row.data as Uint8Array | ArrayBuffer);
  }

  async wipe({ ref, from, below, except, lease }: StreamRange): Promise<void> {
    await this.#access.write(() => {
      if (lease !== undefined && !this.#isHeld(lease)) return;
      this.#access.driver.run(WIPE_STREAMS, [ref, from, below, except]);
    });
  }

  async wipeRuns(ref: string, before: number): Promise<void> {
    await this.#access.write(() => this.#access.driver.run(WIPE_RUNS, [ref, before]));
  }

  /** Inside a transaction. */
  #isHeld({ ref, run, lock }: InstanceLease): boolean {
    const [found] = this.#access.driver.all(FIND_RUN, [ref, run]);
    return found?.lock === lock && Number(found.class) === WorkClass.leased;
  }
}
