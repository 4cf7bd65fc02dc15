import { StoreError } from "../../src/errors.ts";
import type { CreateRecord, Params } from "../checks/instance-records.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import type { ProgramName } from "../names.ts";
import type { SeededRandomness } from "../random.ts";
import { answered } from "./instance-calls.ts";

const IDS = ["shared-1", "shared-2", "shared-3", "shared-4", "shared-5", "shared-6"];
const PROGRAMS: readonly ProgramName[] = ["child", "sequential"];
const KINDS = { batch: 4, returningBatch: 2, unitOfWork: 3, restartOrCreate: 2 };
type Kind = keyof typeof KINDS;

/** Processes that write the same ids at the same time, each in an order of its own. None of them may fail because of that. */
export class OpposedWriters {
  readonly #random: SeededRandomness;

  constructor(random: SeededRandomness) {
    this.#random = random;
  }

  /** Now and then two of these processes write overlapping ids in opposite orders. Never rejects. */
  act(processes: readonly SimulatedProcess[]): void {
    if (processes.length === 0 || !this.#random.chance(0.2)) return;
    const name = this.#random.pick(PROGRAMS);
    const kind = this.#random.weighted(KINDS);
    const first = this.#random.integer(0, 2);
    const ids = IDS.slice(first, first + 4);
    const another: Kind = this.#random.chance(0.7) ? kind : this.#random.weighted(KINDS);
    void write(this.#random.pick(processes), kind, name, ids);
    void write(this.#random.pick(processes), another, name, ids.slice(1).reverse());
  }
}

async function write(process: SimulatedProcess, kind: Kind, name: ProgramName, ids: readonly string[]): Promise<void> {
  const { world } = process.surroundings;
  world.note(process.name, `${kind} of ${name} ${ids.join(", ")}`);
  if (kind === "restartOrCreate") {
    await Promise.all(
      ids.map((id) => ask(process, name, [id], `${kind} ${id}`, (records) => restart(process, id, records))),
    );
    return;
  }
  await ask(process, name, ids, `${kind} of ${ids.length}`, async (records) => {
    if (kind === "unitOfWork") await createInUnit(process, ids, records);
    else await createBatch(process, ids, records, kind === "returningBatch");
  });
}

/** Enters the creates into the ledger. Only the database may fail them. */
async function ask(
  process: SimulatedProcess,
  name: ProgramName,
  ids: readonly string[],
  label: string,
  call: (records: readonly CreateRecord[]) => Promise<void>,
): Promise<void> {
  const { world, instances } = process.surroundings;
  const { creates } = instances;
  const records = ids.map(() => {
    const record: CreateRecord = { n: creates.size + 1, process: process.name, name, answer: "asked", accepted: false };
    creates.set(record.n, record);
    return record;
  });
  const answer = { answer: "asked" as CreateRecord["answer"] };
  await answered(process, answer, label, async () => {
    try {
      await call(records);
    } catch (error) {
      if (!(error instanceof StoreError))
        world.violate("writers of the same ids don't fail", `${label}: ${String(error)}`);
      throw error;
    }
  });
  for (const record of records) record.answer = answer.answer;
}

function paramsOf({ n }: CreateRecord): Params {
  return { n, plans: [["succeed"]], short: 500, long: 6000 };
}

/** The answer to each caller says which of the instances are its own, in the order of the request. */
async function createBatch(
  { name: process, application, surroundings }: SimulatedProcess,
  ids: readonly string[],
  records: readonly CreateRecord[],
  returning: boolean,
): Promise<void> {
  const [{ name }] = records as [CreateRecord];
  const batch = ids.map((id, index) => ({
    id,
    params: paramsOf(records[index] as CreateRecord),
    ...(returning ? { onConflict: "return" as const } : {}),
  }));
  const told = (await application.workflows[name]?.createBatch(batch))?.map(({ id }) => id);
  const expected = ids.filter((_, index) => returning || records[index]?.accepted);
  if (JSON.stringify(told) === JSON.stringify(expected)) return;
  surroundings.world.violate("each id is created once", `${process} was told of ${told}, but created ${expected}`);
}

/** When it is committed, all of them exist, whichever process created them, and so does its own effect. */
async function createInUnit(
  { name: process, fragment, surroundings }: SimulatedProcess,
  ids: readonly string[],
  records: readonly CreateRecord[],
): Promise<void> {
  const [{ name }] = records as [CreateRecord];
  const { instances, world } = surroundings;
  await fragment.unitOfWork(async (uow) => {
    const bindings = uow.workflows as Record<string, { create(options: object): unknown }>;
    for (const [index, id] of ids.entries()) {
      bindings[name]?.create({ id, params: paramsOf(records[index] as CreateRecord), onConflict: "return" });
    }
  });
  for (const id of ids) {
    const known = [...instances.accounts.values()].some((account) => account.name === name && account.id === id);
    if (!known) world.violate("nothing accepted is lost", `${process} was told that ${name} ${id} is there`);
  }
}

async function restart(
  { name: process, application, surroundings }: SimulatedProcess,
  id: string,
  records: readonly CreateRecord[],
): Promise<void> {
  const [record] = records as [CreateRecord];
  const { outcome } =
    (await application.workflows[record.name]?.restartOrCreate({ id, params: paramsOf(record) })) ?? {};
  if ((outcome === "created") === record.accepted) return;
  surroundings.world.violate("each id is created once", `${process} was told that ${record.name} ${id} was ${outcome}`);
}
