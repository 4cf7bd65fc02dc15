import { ConflictError, NotFoundError } from "../../../src/index.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Entry } from "../../ledger.ts";
import type { ChaosApplication, Workload, Write } from "../../workload.ts";
import { accountForWorkflows } from "./accounts.ts";
import { EVENTS, eventOf, type KindName, kindOf } from "./kinds.ts";
import { type ChaosWorkflowApplication, isTransient, produce } from "./produce.ts";
import { createWorkflows } from "./programs.ts";
import type { Collected, CollectedInstance } from "./stories.ts";

const PAGE = 1000;
const AT_ONCE = 10;
const LATE = ["w-late"];
const NAMES = ["chaos", "chaosChild"];
const UNFINISHED = ["queued", "running", "waiting", "waitingForPause", "paused"] as const;

/** Instances of workflows of every kind, and what operators do to them. */
export const workflowsWorkload: Workload = {
  name: "workflows",
  tables: ["create table chaos_step_effect (key text primary key, item text not null)"],
  hooks: () => ({}),
  workflows: createWorkflows,
  watch: watchClaims,
  produce,
  finish,
  left,
  collect,
  accounts: (entries, collected) => accountForWorkflows(entries, collected as Collected),
};

/** The owners of an instance, each with the database's time of its claim. */
function watchClaims({ engine: { instances } }: Store, write: Write): void {
  const claim = instances.claim.bind(instances);
  instances.claim = async (request) => {
    const claimed = await claim(request);
    for (const { name, id, run, claimedAt } of claimed) {
      if (NAMES.includes(name)) write("claimed", id, { run, time: claimedAt });
    }
    return claimed;
  };
}

function bindingsOf(app: ChaosApplication) {
  const { chaos, chaosChild } = (app as unknown as ChaosWorkflowApplication).workflows;
  return { chaos, chaosChild };
}

/** Finishes the work of producers that were killed: resumes paused instances, and sends the missing events. */
async function finish(app: ChaosApplication, entries: readonly Entry[], write: Write): Promise<void> {
  await inTurns(LATE, (item) => createLate(app, item, write));
  const asked = entries.filter(({ did }) => did === "asked");
  await inTurns(asked, async ({ item, kind }) => {
    const { operation, program } = kindOf(kind as KindName);
    if (operation !== "pause" && program !== "listener") return;
    const tell = async () => {
      const instance = await bindingsOf(app).chaos.get(item);
      if (operation === "pause") await instance.resume();
      if (program === "listener") for (const number of EVENTS) await instance.sendEvent(eventOf(number));
    };
    await tell().catch((error: unknown) => {
      if (!(error instanceof NotFoundError || error instanceof ConflictError)) throw error;
    });
  });
}

/** A worker with free slots must take it over, so it is created after everything else has ended. */
async function createLate(app: ChaosApplication, id: string, write: Write): Promise<void> {
  write("asked", id, { kind: "late" });
  await bindingsOf(app).chaos.create({ id, params: { kind: "late" }, onConflict: "return" });
  write("accepted", id);
}

async function left(app: ChaosApplication): Promise<number> {
  let found = 0;
  for (const { list } of Object.values(bindingsOf(app))) {
    for (const status of UNFINISHED) found += (await list({ status, limit: PAGE })).instances.length;
  }
  return found;
}

async function collect(app: ChaosApplication): Promise<Collected> {
  const rows = await app.unitOfWork((uow) => uow.sql`select key, item from chaos_step_effect`);
  const effects = rows.map(({ key, item }) => ({ key: key as string, item: item as string }));
  const instances: CollectedInstance[] = [];
  for (const { list, get } of Object.values(bindingsOf(app))) {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
      await inTurns(page.instances, async ({ id, workflowName, status, run, output, error, startedAt, finishedAt }) => {
        const { entries } = await (await get(id)).history({ limit: PAGE });
        const times = { startedAt: startedAt?.getTime() ?? null, finishedAt: finishedAt?.getTime() ?? null };
        const isChild = workflowName === "chaosChild";
        instances.push({ id, isChild, status, run, output, error: error?.message ?? null, ...times, entries } as never);
      });
      cursor = page.cursor;
    }
  }
  return { instances, effects };
}

async function inTurns<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.pop(); item !== undefined; item = queue.pop()) await patiently(act, item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** The server may just have come back. */
async function patiently<Item>(act: (item: Item) => Promise<void>, item: Item): Promise<void> {
  try {
    await act(item);
  } catch (error) {
    if (!isTransient(error)) throw error;
    await act(item);
  }
}
