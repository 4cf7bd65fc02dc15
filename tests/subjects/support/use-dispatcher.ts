import { afterAll, beforeAll, beforeEach } from "vitest";
import { createSubjectDispatcher, type SubjectDispatcher, type SubjectSettings } from "../../../src/index.ts";
import { ControlledClock } from "../../support/controlled-clock.ts";
import type { TestEngine, TestStore } from "../../support/engines.ts";

export const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

/** A database for the tests of one `describe`, and a profile of its own for each of them. Time stands still. */
export function useDispatcher(engine: TestEngine): DispatcherUnderTest {
  const subject = new DispatcherUnderTest();
  beforeAll(async () => {
    subject.opened = await engine.create({ clock: subject.clock, logger: SILENT });
  });
  beforeEach(() => subject.nextProfile());
  afterAll(() => subject.opened?.dispose());
  return subject;
}

export class DispatcherUnderTest {
  readonly clock: ControlledClock = new ControlledClock();
  opened: TestStore | undefined;
  profile = "";
  #profiles = 0;

  get database(): TestStore {
    if (this.opened === undefined) throw new Error("The database is there only while tests run.");
    return this.opened;
  }

  nextProfile(): void {
    this.profile = `profile ${++this.#profiles}`;
  }

  create<Cursor = unknown, Meta = unknown>(
    options: SubjectSettings<Cursor, Meta> & { profile?: string; dispatcherId?: string } = {},
  ): SubjectDispatcher<Cursor, Meta> {
    const { adapter } = this.database;
    return createSubjectDispatcher({ profile: this.profile, dispatcherId: "inventory", database: adapter, ...options });
  }
}
