import {
  ConflictError,
  NotFoundError,
  StoreError,
  WorkflowFailedError,
  WorkflowTerminatedError,
} from "../../src/errors.ts";
import { decodeValue } from "../../src/values/index.ts";
import type { CreateOptions } from "../../src/workflows/instances/create/create-options.ts";
import { InstanceHandle } from "../../src/workflows/instances/instance-handle.ts";
import type { WorkflowRuntime } from "../../src/workflows/workflow-runtime.ts";
import type { InstanceAccount } from "../books/instance-account.ts";
import type { LifecycleOperation } from "../books/lifecycle-book.ts";
import type { Answer, CreateRecord, EventRecord, Params } from "../checks/instance-records.ts";
import type { SimulatedProcess, Surroundings } from "../machines/simulated-process.ts";
import { EVENT_TYPES, type ProgramName } from "../names.ts";

type Name = Pick<InstanceAccount, "name" | "id">;

/** The errors that calls without an acknowledgement may end with. */
const EXPECTED = [StoreError, ConflictError, NotFoundError, WorkflowFailedError, WorkflowTerminatedError];

export type CreateCall = Pick<CreateOptions<Params>, "id" | "onConflict" | "labels" | "retention">;

export async function createInstance(
  process: SimulatedProcess,
  name: ProgramName,
  params: Omit<Params, "n">,
  options: CreateCall,
): Promise<void> {
  const { world, instances } = process.surroundings;
  const { creates } = instances;
  const record: CreateRecord = { n: creates.size + 1, process: process.name, name, answer: "asked", accepted: false };
  creates.set(record.n, record);
  world.note(process.name, `creates ${name} ${options.id ?? ""} (#${record.n}): ${JSON.stringify(params)}`);
  await answered(process, record, `create #${record.n}`, async () => {
    const { workflows } = process.application;
    await workflows[name]?.create({ ...options, params: { ...params, n: record.n } });
  });
  if (record.answer === "acknowledged" && !record.accepted && options.onConflict !== "return") {
    world.violate("nothing accepted is lost", `the instance #${record.n} was acknowledged, but never written`);
  }
}

export async function sendEvent(
  process: SimulatedProcess,
  { name, id }: Name,
  options: { readonly id?: string; readonly type?: string },
): Promise<void> {
  const { world, instances } = process.surroundings;
  const { records } = instances.events;
  const type = options.type ?? world.random.pick(EVENT_TYPES);
  const record: EventRecord = { n: records.size + 1, process: process.name, type, answer: "asked", holder: null };
  records.set(record.n, record);
  world.note(process.name, `sends ${type} ${options.id ?? ""} (#${record.n}) to ${name} ${id}`);
  const event = { type, payload: { n: record.n }, ...(options.id === undefined ? {} : { id: options.id }) };
  await answered(process, record, `event #${record.n}`, () => handleOf(process, name, id).sendEvent(event));
  const { holder } = record;
  if (record.answer === "acknowledged" && holder === null) {
    world.violate("nothing accepted is lost", `the event #${record.n} was acknowledged, but never written`);
  }
  if (record.answer !== "refused" || holder === null) return;
  // The answer was lost, and the event is sent again: nothing is left of it if its instance was deleted meanwhile.
  if (holder.state === "gone") instances.sentAgainTooLate++;
  else world.violate("what is refused never happened", `event #${record.n}`);
}

export async function operate(
  process: SimulatedProcess,
  { name, id }: Name,
  operation: LifecycleOperation | "status",
): Promise<void> {
  process.surroundings.world.note(process.name, `${operation} ${name} ${id}`);
  await answered(process, { answer: "asked" }, operation, async () => {
    const handle = handleOf(process, name, id);
    if (operation === "status") return askStatus(process, handle);
    await (operation === "rollBack" ? handle.terminate({ rollback: true }) : handle[operation]());
  });
}

async function askStatus({ name, clock, surroundings }: SimulatedProcess, handle: InstanceHandle): Promise<void> {
  const { instances } = surroundings;
  const account = instances.find({ name: handle.workflowName, id: handle.id });
  const before = account && instances.versions.describe(account);
  const told = await handle.status();
  // By its own clock, a process assumes that an instance that is due within a minute may be waiting for newer code.
  if (account !== undefined && before !== undefined && clock.skew === 0)
    instances.versions.told(name, account, before, told);
}

/** An operator checks on an instance that waits for newer code, in a process that lacks the code. */
export function askOlder({ instances }: Surroundings, processes: readonly SimulatedProcess[]): void {
  const process = processes.find(({ name, clock }) => instances.versions.isOlder(name) && clock.skew === 0);
  if (process === undefined) return;
  for (const account of instances.accounts.values()) {
    if (account.state !== "live" || account.held || !instances.versions.isUnreadable(account)) continue;
    void operate(process, account, "status");
    return;
  }
}

/** Purges what was kept for long enough, as dispatchers do from time to time. */
export async function purge(process: SimulatedProcess): Promise<void> {
  process.surroundings.world.note(process.name, "purges");
  await answered(process, { answer: "asked" }, "purge", async () => {
    for (const source of process.processor.sources) await source.purge();
  });
}

/** Waits for an instance to end. A waiting caller must receive an ending that the instance really had. */
export async function awaitResult(process: SimulatedProcess, { name, id }: Name): Promise<void> {
  const { world, instances } = process.surroundings;
  world.note(process.name, `waits for ${name} ${id}`);
  await answered(process, { answer: "asked" }, `the result of ${name} ${id}`, async () => {
    const output = JSON.stringify(await handleOf(process, name, id).result());
    const known = [...instances.accounts.values()].some(
      (account) =>
        account.name === name &&
        account.id === id &&
        [...account.outputs].some((one) => JSON.stringify(decodeValue(one)) === output),
    );
    if (!known) world.violate("results are what was committed", `${name} ${id}: ${output}`);
  });
}

export function handleOf({ fragment }: SimulatedProcess, name: string, id: string): InstanceHandle {
  const runtime = fragment.parts.workflows as WorkflowRuntime;
  return new InstanceHandle(runtime, runtime.workflows.get(name), id);
}

export async function answered(
  process: SimulatedProcess,
  record: { answer: Answer },
  label: string,
  call: () => Promise<void>,
): Promise<void> {
  const { world, instances } = process.surroundings;
  const asked = { process: process.name, label };
  instances.asked.add(asked);
  try {
    await call();
    record.answer = "acknowledged";
  } catch (error) {
    record.answer = error instanceof StoreError ? "unknown" : "refused";
    if (!EXPECTED.some((expected) => error instanceof expected)) {
      world.violate("only the store fails", `${label}: ${String(error)}`);
    }
  }
  instances.asked.delete(asked);
  world.note(process.name, `${label}: ${record.answer}`);
}
