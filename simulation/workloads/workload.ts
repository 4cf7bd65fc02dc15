import { StoreError } from "../../src/errors.ts";
import type { TriggerOptions } from "../../src/hooks/trigger.ts";
import type { AsyncTransaction } from "../../src/store/foreign-transaction.ts";
import type { Behaviour, Payload, TriggerRecord } from "../books/trigger-record.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { HOOK_NAMES, type HookName } from "../names.ts";
import type { Profile } from "../profile.ts";
import type { SeededRandomness } from "../random.ts";
import { inTransactions } from "./hook-transactions.ts";

class RolledBackOnPurpose extends Error {}

const BEHAVIOURS: Record<Behaviour, number> = {
  succeed: 8,
  work: 8,
  effect: 4,
  chain: 2,
  throw: 5,
  refuse: 1,
  hang: 1,
  ignore: 1,
  kill: 1,
  "effect-and-kill": 1,
};

const ACTIONS = {
  trigger: 10,
  burst: 3,
  ownId: 2,
  unitOfWork: 4,
  within: 3,
  cancel: 2,
  redrive: 2,
  discard: 1,
};

/** What the application does: each call is made in some process, entered into the ledger, and its answer too. */
export class Workload {
  readonly #keys: readonly string[];
  readonly #keyShare: number;
  readonly #actions: typeof ACTIONS;
  readonly #behaviours: typeof BEHAVIOURS;

  constructor(random: SeededRandomness, { keys, keyShare }: Profile) {
    this.#keys = Array.from({ length: keys }, (_, index) => `key-${index + 1}`);
    this.#keyShare = keyShare;
    this.#actions = random.emphasize(ACTIONS);
    this.#behaviours = random.emphasize(BEHAVIOURS);
  }

  /** Does something that an application or an operator would do, in this process. Never rejects. */
  act(process: SimulatedProcess): void {
    const { random } = process.surroundings.world;
    const action = random.weighted(this.#actions);
    switch (action) {
      case "trigger":
        return void this.#trigger(process);
      case "burst":
        for (let count = random.integer(2, 6); count > 0; count--) void this.#trigger(process);
        return;
      case "ownId":
        return void this.#trigger(process, { name: "work", ownId: `own-${random.integer(1, 3)}`, key: null });
      case "unitOfWork":
        return void this.#unitOfWork(process);
      case "within":
        return void this.#within(process);
      default:
        return void this.#operate(process, action);
    }
  }

  async #trigger(process: SimulatedProcess, overrides: Partial<TriggerRecord> = {}): Promise<void> {
    const { record, payload, options } = this.#ask(process, overrides);
    note(process, record, "triggers");
    await this.#answer(process, [record], async () => {
      const { id } = await process.application.hooks[record.name as HookName].trigger(payload, options);
      this.#acknowledged(process, record, id);
    });
  }

  /** A transaction with an effect of its own, that now and then is rolled back. */
  async #unitOfWork(process: SimulatedProcess): Promise<void> {
    const { random } = process.surroundings.world;
    const asked = Array.from({ length: random.integer(1, 3) }, () =>
      this.#ask(process, { via: "unitOfWork", ownId: null }),
    );
    const records = asked.map(({ record }) => record);
    const rollBack = random.chance(0.2);
    for (const record of records) note(process, record, `triggers in a unit of work${rollBack ? " that fails" : ""}`);
    await this.#answer(process, records, () =>
      process.fragment.unitOfWork(async (uow) => {
        for (const { record, payload, options } of asked) {
          await uow.sql`insert into effect (n) values (${record.n})`;
          uow.triggerHook(record.name as HookName, payload, options);
        }
        if (rollBack) throw new RolledBackOnPurpose();
      }),
    );
  }

  /** The same in a transaction that the application began by itself. */
  async #within(process: SimulatedProcess): Promise<void> {
    const { random } = process.surroundings.world;
    const { record, payload, options } = this.#ask(process, { via: "within", ownId: null });
    const rollBack = random.chance(0.2);
    note(process, record, `triggers in a transaction of its own${rollBack ? " that fails" : ""}`);
    await this.#answer(process, [record], () =>
      process.fragment.parts.store.engine.transaction(async (transaction) => {
        const foreign: AsyncTransaction = {
          mode: "async",
          dialect: "sqlite",
          isOpen: () => true,
          execute: (text, parameters) => transaction.query(text, parameters),
        };
        await transaction.query("insert into effect (n) values (?)", [record.n]);
        await process.fragment.within(foreign).triggerHook(record.name as HookName, payload, options);
        if (rollBack) throw new RolledBackOnPurpose();
      }),
    );
  }

  async #operate(process: SimulatedProcess, action: "cancel" | "redrive" | "discard"): Promise<void> {
    const { world, book } = process.surroundings;
    const accounts = [...book.accounts.values()].filter(({ state }) =>
      action === "cancel" ? state === "live" : state === "failed" || world.random.chance(0.1),
    );
    if (accounts.length === 0) return;
    const { id, name, key } = world.random.pick(accounts);
    world.note(process.name, `${action} ${id}`);
    const { durableHooks } = process.fragment;
    try {
      if (action === "cancel") await durableHooks.cancel(key !== null && world.random.chance(0.5) ? { name, key } : id);
      else await durableHooks[action](id);
    } catch (error) {
      if (!(error instanceof StoreError)) world.violate("only the store fails", `${action}: ${String(error)}`);
    }
  }

  #ask(
    process: SimulatedProcess,
    overrides: Partial<TriggerRecord>,
  ): { record: TriggerRecord; payload: Payload; options: TriggerOptions } {
    const { world } = process.surroundings;
    const { random } = world;
    const limit = random.integer(0, 3);
    const record = process.ask({
      name: random.pick(HOOK_NAMES),
      key: random.chance(this.#keyShare) ? random.pick(this.#keys) : null,
      processAt: random.chance(0.15) ? world.now + random.integer(-5000, 120_000) : null,
      maxAttempts: limit + 1,
      plan: process.surroundings.profile.transacting ? inTransactions(this.#plan(process)) : this.#plan(process),
      ...overrides,
    });
    const { key, ownId, processAt } = record;
    const options: TriggerOptions = {
      retries: { limit, delay: random.integer(0, 20_000), backoff: random.pick(["constant", "exponential"]) },
      ...(key === null ? {} : { key }),
      ...(ownId === null ? {} : { id: ownId }),
      ...(processAt === null ? {} : { processAt }),
      ...(key === null || processAt !== null ? {} : debounceOf(record)),
    };
    return { record, payload: { n: record.n, plan: record.plan }, options };
  }

  #plan(process: SimulatedProcess): Behaviour[] {
    const { random } = process.surroundings.world;
    if (random.chance(0.04)) return ["kill"]; // poison
    const plan = Array.from({ length: random.integer(1, 3) }, () => random.weighted(this.#behaviours));
    return random.chance(0.8) ? [...plan, random.pick<Behaviour>(["succeed", "effect"])] : plan;
  }

  async #answer(
    process: SimulatedProcess,
    records: readonly TriggerRecord[],
    call: () => Promise<void>,
  ): Promise<void> {
    const { world } = process.surroundings;
    const told = (answer: TriggerRecord["answer"]) => {
      for (const record of records) {
        record.answer = answer;
        note(process, record, answer);
        if (answer === "acknowledged") this.#checkAcknowledged(process, record);
        if (answer === "refused" && record.accepted)
          world.violate("what is rolled back never happened", `#${record.n}`);
      }
    };
    try {
      await call();
      told("acknowledged");
    } catch (error) {
      if (error instanceof RolledBackOnPurpose) told("refused");
      else if (error instanceof StoreError) told("unknown");
      else world.violate("only the store fails", String(error));
    }
  }

  #acknowledged(process: SimulatedProcess, record: TriggerRecord, id: string): void {
    const account = process.surroundings.book.accounts.get(id);
    if (account?.name === record.name && account.key === record.key) return;
    process.surroundings.world.violate(
      "nothing accepted is lost",
      `#${record.n} was acknowledged as ${id}, which is not its hook`,
    );
  }

  /** Of triggers of one key that are written together only the last is seen by the database. */
  #checkAcknowledged(process: SimulatedProcess, record: TriggerRecord): void {
    if (record.accepted) return;
    const { world, book } = process.surroundings;
    const merged = [...book.triggers.values()].some(
      ({ n, name, key, accepted, process: from }) =>
        accepted && n > record.n && name === record.name && key !== null && key === record.key && from === process.name,
    );
    if (!merged) world.violate("nothing accepted is lost", `#${record.n} was acknowledged, but never written`);
    record.accepted = true;
  }
}

function note(process: SimulatedProcess, { n, name, key, plan }: TriggerRecord, what: string): void {
  const details = what.startsWith("triggers") ? ` ${name}${key === null ? "" : `/${key}`} (${plan.join(", ")})` : "";
  process.surroundings.world.note(process.name, `#${n} ${what}${details}`);
}

/** Every third one with a key, by its number, so that worlds without keys stay the same. */
function debounceOf({ n }: TriggerRecord): Pick<TriggerOptions, "debounce"> {
  const delay = 200 + (n % 7) * 1500;
  return n % 3 === 0 ? { debounce: { delay, maxWait: n % 2 === 0 ? 2 * delay : false } } : {};
}
