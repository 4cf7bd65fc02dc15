import { expect } from "vitest";
import { defineWorkflow, type WorkflowContext, type WorkflowEvent, type WorkflowStep } from "../../../src/index.ts";
import { LostCommit } from "./lost-commit.ts";
import { Notes, Story } from "./notes.ts";
import { eventually, LEASE_MS, type WorkflowProcess, type WorkflowsUnderTest } from "./use-workflows.ts";

/** A workflow whose outcome depends on nothing but its steps. */
export interface Program {
  readonly title: string;
  readonly run: (
    step: WorkflowStep,
    notes: Notes,
    context: WorkflowContext & { readonly id: string },
  ) => Promise<unknown>;
  /** Sent as soon as the instance exists. */
  readonly events?: readonly { readonly type: string; readonly payload: unknown }[];
  /** Whether who wins depends on how much time passed: then only what was decided before a loss must stay as it was. */
  readonly timed?: boolean;
}

const NEVER = Number.POSITIVE_INFINITY;
const MOST_LIVES = 60;
const CHILD_STEP = "answer";

/**
 * Runs a program live; then, for each of its commits, with a process that is lost after that commit and another that goes on;
 * and at last with processes that are each lost after one commit.
 */
export async function replayEverywhere(test: WorkflowsUnderTest, program: Program): Promise<void> {
  const live = await runWith(test, program, "live", () => NEVER);
  for (let position = 1; position <= live.commits; position++) {
    const lost = await runWith(test, program, `lost-${position}`, (life) => (life === 1 ? position : NEVER));
    if (!program.timed) expect(lost.outcome, `lost after commit ${position}`).toEqual(live.outcome);
    // What runs side by side may be committed together, and so in fewer commits than live.
    if (position === 1 && live.commits > 1) expect(lost.lives).toBe(2);
  }
  const always = await runWith(test, program, "always", () => 1);
  if (!program.timed) expect(always.outcome, "lost after each commit").toEqual(live.outcome);
}

async function runWith(test: WorkflowsUnderTest, program: Program, id: string, lostAfter: (life: number) => number) {
  const story = new Story();
  for (let lives = 1; lives <= MOST_LIVES; lives++) {
    const { process, connection } = begin(test, program, story, lostAfter(lives));
    if (lives === 1) {
      const created = await process.workflows.program.create({ id });
      for (const event of program.events ?? []) await created.sendEvent(event);
    }
    process.start();
    const outcome = await untilEnd(process, connection, id);
    connection.end();
    await process.close();
    test.clock.advance(process.clock.now() - test.clock.now() + LEASE_MS + 1);
    expect(story.contradictions, id).toEqual([]);
    if (outcome !== undefined) return { outcome, commits: story.commits, lives };
  }
  throw new Error("It doesn't come to an end.");
}

function registry(program: Program, notes: Notes) {
  return {
    program: defineWorkflow({ name: "program" }, async ({ instanceId: id }, step, context) => {
      notes.beginCode();
      return program.run(step, notes, { id, env: context.env, workflows: context.workflows });
    }),
    child: defineWorkflow({ name: "child" }, async (event: WorkflowEvent<string>, step) =>
      step.do(CHILD_STEP, () => `child of ${event.payload}`),
    ),
  };
}

/** A process that is lost after so many commits. */
function begin(test: WorkflowsUnderTest, program: Program, story: Story, lostAfter: number) {
  const notes = new Notes(story);
  const process = test.process(registry(program, notes), { clock: test.anotherClock() });
  const connection = new LostCommit(process.store, lostAfter, ({ entries }) => {
    story.commits++;
    if (!entries.some(({ name }) => name === CHILD_STEP)) story.stored(entries, notes.lines);
    notes.lost = connection.isOver;
  });
  return { process, connection };
}

/** Lets time pass for the process, until the instance is finished. Returns nothing if the process is lost. */
async function untilEnd(process: WorkflowProcess<ReturnType<typeof registry>>, connection: LostCommit, id: string) {
  const instance = await process.workflows.program.get(id);
  return eventually(async () => {
    await process.clock.advanceAndSettle(process.clock.nextTimer ?? 0);
    const { status, output, error } = await instance.status();
    if (status === "complete" || status === "errored") return { status, output, error };
    if (!connection.isLost) throw new Error(`It is ${status}.`);
    return undefined;
  });
}
