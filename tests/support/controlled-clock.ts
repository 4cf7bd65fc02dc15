import { settle as settleProcess, ControlledClock as TestingClock } from "../../src/testing/controlled-clock.ts";
import { databaseAtRest } from "./database-traffic.ts";

/**
 * A controlled clock that moves on only when PostgreSQL has answered everything that it was asked: else a busy machine would
 * let leases run out between a question and its answer.
 */
export class ControlledClock extends TestingClock {
  constructor(start?: number) {
    super(start, settle);
  }
}

/** Lets everything run until nothing is left to do, in this process and in PostgreSQL. */
export async function settle(): Promise<void> {
  do await settleProcess();
  while (await databaseAtRest());
}
