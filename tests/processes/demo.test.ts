import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { definePurchase } from "../../examples/approval.ts";
import { defineOverview } from "../../examples/overview.ts";
import { defineTrip } from "../../examples/trip.ts";
import { type HistoryItem, perdure } from "../../src/index.ts";
import { waitUntil } from "../support/wait-until.ts";

const fromSource = new URL("../../scripts/from-source.ts", import.meta.url).href;
const program = fileURLToPath(new URL("../../examples/demo.ts", import.meta.url));

const STORIES = [
  {
    workflow: "purchase",
    /** What the demo says, in order. It is killed at each. */
    moments: [
      "purchase-",
      "within the budget?",
      "manager ",
      "doesn't answer: once",
      "orders a chair",
      "sends the receipt",
    ],
    /** What is said when something is done. */
    words: {
      "check the budget": "within the budget?",
      order: "orders a chair",
      tell: "sends the receipt",
    },
    end: { status: "complete", done: ["check the budget", "approval", "time to change your mind", "order", "tell"] },
  },
  {
    workflow: "trip",
    moments: ["books a hotel", "gets no car", "cancels the hotel", "cancels the flight"],
    words: {
      flight: "books a flight",
      hotel: "books a hotel",
      "car, rolled back": "no car to cancel",
      "hotel, rolled back": "cancels the hotel",
      "flight, rolled back": "cancels the flight",
    },
    end: {
      status: "errored",
      done: ["flight", "hotel", "car, rolled back", "hotel, rolled back", "flight, rolled back"],
    },
  },
] as const;

let directory: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "perdure-demo-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

/** What `npm start` runs. */
function startDemo() {
  const child = spawn(process.execPath, ["--import", fromSource, program], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return { child, ended, output: () => output };
}

function openDatabase() {
  const workflows = {
    purchase: definePurchase({ say: () => {}, notify: async () => {} }),
    trip: defineTrip(() => {}),
    overview: defineOverview({ say: () => {}, count: async () => ({}) }),
  };
  return perdure({ database: join(directory, "perdure-demo.db"), workflows, worker: false });
}

const DONE: Readonly<Record<string, string>> = { completed: "", received: "", rolledBack: ", rolled back" };
const describeDone = ({ kind, name }: HistoryItem) => (kind in DONE ? [`${name}${DONE[kind]}`] : []);

/** The newest instance of a workflow. */
async function readNewest(workflow: "purchase" | "trip") {
  await using app = await openDatabase();
  const id = (await app.workflows[workflow].list({ limit: 1 })).instances[0]?.id;
  if (id === undefined) return undefined;
  const instance = await app.workflows[workflow].get(id);
  const { status, run, finishedAt, rollback } = await instance.status();
  const { entries } = await instance.history();
  return { id, status, run, finished: finishedAt !== null, rollback, done: entries.flatMap(describeDone) };
}

/** The times of which an overview was given: each has one instance of one run. */
async function readOverviews(): Promise<string[]> {
  await using app = await openDatabase();
  const { instances } = await app.workflows.overview.list({ status: "complete", limit: 1000 });
  const histories = await Promise.all(
    instances.map(async ({ id }) => (await app.workflows.overview.get(id)).history().then(({ run }) => run)),
  );
  expect(histories.every((run) => run === 1)).toBe(true);
  return instances.map(({ id }) => id.slice(id.indexOf("T") + 1, id.indexOf(".")));
}

const findTimes = (output: string) => Array.from(output.matchAll(/overview {3}(\S+): /g), ([, time]) => time as string);

test.each(STORIES)(
  "the $workflow of the demo continues where it was killed, and doesn't repeat what was done",
  async ({ workflow, moments, words, end }) => {
    let id: string | undefined;
    let done: readonly string[] = [];
    let told: readonly string[] = [];
    const checkOutput = (output: string) => {
      const another = new RegExp(`${workflow}-\\w+ requested`).test(output); // the last one ended before the test looked
      for (const [name, said] of Object.entries(words)) {
        if (done.includes(name) && !another) expect(output, `"${name}" was done before`).not.toContain(said);
      }
      const times = findTimes(output);
      expect(new Set(times).size, "each time is told of once").toBe(times.length);
      expect(times.filter((time) => told.includes(time))).toEqual([]);
    };
    for (const index of moments.keys()) {
      const { child, ended, output } = startDemo();
      const rest = moments.slice(index); // what was to be said may have been said by the run before
      const isThere = () => rest.some((said) => output().includes(said)) || child.exitCode !== null;
      await waitUntil(`the demo says "${moments[index]}"`, isThere);
      child.kill("SIGKILL");
      await ended;
      checkOutput(output());
      const newest = await readNewest(workflow);
      expect(newest?.run).toBe(1);
      if (newest?.id === id) expect(newest?.done.slice(0, done.length)).toEqual(done);
      id = newest?.id;
      done = newest?.finished ? [] : (newest?.done ?? []); // on a slow machine: the next run has another one
      told = await readOverviews();
    }
    const { ended, output } = startDemo();
    expect(await ended, output()).toBe(0);
    checkOutput(output());
    expect(output()).toContain("everything that was accepted has been done");
    expect(findTimes(output()), output()).not.toEqual([]);
    expect(await readNewest(workflow)).toMatchObject(end);
  },
);
