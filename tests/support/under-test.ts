import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { ControlledClock } from "./controlled-clock.ts";
import type { TestEngine, TestStore } from "./engines.ts";

/** A database for the tests of one `describe`, with a time, a namespace and processes of their own for each test. */
export abstract class UnderTest<Process extends { close(): Promise<void> }> {
  database: TestStore | undefined;
  clock = new ControlledClock();
  namespace = "";
  #namespaces = 0;
  protected readonly processes: Process[] = [];

  begin(): void {
    this.clock = new ControlledClock();
    this.namespace = `namespace-${++this.#namespaces}`;
  }

  async end(): Promise<void> {
    for (const process of this.processes.splice(0)) await process.close();
  }
}

/** Opens and closes what is under test with the tests of one `describe`. */
export function useUnderTest<Subject extends UnderTest<{ close(): Promise<void> }>>(
  engine: TestEngine,
  subject: Subject,
): Subject {
  beforeAll(async () => {
    subject.database = await engine.create();
  });
  beforeEach(() => subject.begin());
  afterEach(() => subject.end());
  afterAll(() => subject.database?.dispose());
  return subject;
}
