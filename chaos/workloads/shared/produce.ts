import { setTimeout as delay } from "node:timers/promises";
import type { Application, WorkflowDefinition } from "../../../src/index.ts";
import type { ProducingProcess } from "../../workload.ts";
import { rightTime } from "../../wrong-clock.ts";

export interface SharedParams {
  /** The token of the call. */
  readonly by: string;
}

type SharedWorkflow = WorkflowDefinition<SharedParams, string, Record<string, unknown>>;
export type SharedApplication = Application<Record<never, never>, { readonly chaosShared: SharedWorkflow }>;

/** How the ids are written. Each way has ids of its own. */
export const WAYS = ["batch", "unit of work", "restart"] as const;
type Way = (typeof WAYS)[number];

const LANES = 2;
const IDS = 6;
/** Writers in the same moment write the same ids. */
const MOMENT_MS = 250;

/** All processes write the same ids at any moment, half of them in the opposite order. */
export async function produce(producing: ProducingProcess): Promise<void> {
  const { name, random, stopping } = producing;
  const lane = async (number: number) => {
    for (let sequence = 1; !stopping(); sequence++) {
      await writeOnce(producing, random.pick(WAYS), `${name}-${number}-${sequence}`);
      await delay(random.integer(0, MOMENT_MS / 2));
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
}

async function writeOnce({ app, random, write }: ProducingProcess, way: Way, by: string): Promise<void> {
  const moment = Math.floor(rightTime() / MOMENT_MS);
  const ids = Array.from({ length: IDS }, (_, number) => `${way.replaceAll(" ", "-")}-${moment}-${number}`);
  if (random.chance(0.5)) ids.reverse();
  for (const id of ids) write("asked", id, { way, by });
  try {
    const created = await send(app as unknown as SharedApplication, way, ids, by);
    for (const id of ids) write("accepted", id, { way, by, created: created?.includes(id) ?? null });
  } catch (error) {
    const { code = null, transient = false, cause } = error as { code?: unknown; transient?: boolean; cause?: unknown };
    const state = (cause as { code?: unknown } | undefined)?.code ?? null;
    const did = transient || code === "transaction.outcome_unknown" ? "unknown" : "refused";
    for (const id of ids) write(did, id, { way, by, code, state, message: String(error) });
  }
}

/** Returns the ids that this call has created, or null if its answer doesn't say. */
async function send(
  { workflows, unitOfWork }: SharedApplication,
  way: Way,
  ids: readonly string[],
  by: string,
): Promise<string[] | null> {
  const params = { by };
  if (way === "batch") {
    const created = await workflows.chaosShared.createBatch(ids.map((id) => ({ id, params })));
    return [...created].map(({ id }) => id);
  }
  if (way === "restart") {
    await Promise.all(ids.map((id) => workflows.chaosShared.restartOrCreate({ id, params, when: ["errored"] })));
    return null;
  }
  await unitOfWork(async (uow) => {
    for (const id of ids) uow.workflows.chaosShared.create({ id, params, onConflict: "return" });
  });
  return null;
}
