import { setTimeout as delay } from "node:timers/promises";
import { type Application, CommitOutcomeUnknownError, type TriggerOptions } from "../../../src/index.ts";
import type { OwnTransaction } from "../../own-transactions.ts";
import type { ProducingProcess } from "../../workload.ts";
import { rightTime } from "../../wrong-clock.ts";
import type { ChaosHooks } from "./handlers.ts";
import { type Item, KINDS, type KindName, kindOf, SURE, type Way } from "./kinds.ts";

const LANES = 4;
const OWN_KEYS_PER_LANE = 3;
const SHARED_KEYS = 5;
const LONGEST_PAUSE_MS = 60;
const LONGEST_WAIT_MS = 1500;
const PAUSE_AFTER_ERROR_MS = 100;
/** Which items of a lane are those that every producer creates. */
const SURE_AT = 5;

const WEIGHTS = Object.fromEntries(Object.entries(KINDS).map(([name, { weight }]) => [name, weight])) as Record<
  KindName,
  number
>;

/** The outcome of a call, as far as its caller knows. */
type Answer = "accepted" | "rolled back" | "refused" | "unknown";

/** Thrown to roll a unit of work back. */
class ChangedItsMind extends Error {}

/** Lanes that send one request after the other. Each is recorded before it is sent, and again when there is an answer. */
export async function produce(producing: ProducingProcess): Promise<void> {
  await Promise.all(Array.from({ length: LANES }, (_, number) => new Lane(producing, number).run()));
}

interface Order {
  readonly item: Item;
  readonly way: Way;
  readonly options: TriggerOptions;
}

class Lane {
  readonly #producing: ProducingProcess;
  readonly #app: Application<ChaosHooks>;
  readonly #name: string;
  readonly #number: number;
  #items = 0;

  constructor(producing: ProducingProcess, number: number) {
    this.#producing = producing;
    this.#app = producing.app as unknown as Application<ChaosHooks>;
    this.#name = `${producing.name}-${number}`;
    this.#number = number;
  }

  async run(): Promise<void> {
    const { random, stopping } = this.#producing;
    while (!stopping()) {
      const answer = await this.#ask(this.#choose());
      await delay(answer === "accepted" ? random.integer(0, LONGEST_PAUSE_MS) : PAUSE_AFTER_ERROR_MS);
    }
  }

  #choose(): Order {
    const { random, write } = this.#producing;
    const sequence = ++this.#items;
    const sure = sequence === SURE_AT ? SURE[this.#number] : undefined;
    const kind = sure ?? random.weighted(WEIGHTS);
    const { ways, key, later } = kindOf(kind);
    const item: Item = { id: `${this.#name}-${sequence}`, kind };
    const way = random.pick(ways);
    const keys =
      key === "own"
        ? { key: `${this.#name}-${random.integer(1, OWN_KEYS_PER_LANE)}` }
        : key === "shared"
          ? { key: `shared-${random.integer(1, SHARED_KEYS)}` }
          : {};
    const times = later ? { processAt: rightTime() + random.integer(0, LONGEST_WAIT_MS) } : {};
    const ids = way === "trigger twice" ? { id: item.id } : {};
    write("asked", item.id, { kind, way, sequence, ...keys, ...times });
    return { item, way, options: { ...keys, ...times, ...ids } };
  }

  async #ask(order: Order): Promise<Answer> {
    const { write } = this.#producing;
    try {
      const answer = await this.#send(order);
      write(answer, order.item.id);
      return answer;
    } catch (error) {
      const answer = error instanceof CommitOutcomeUnknownError || isUnanswered(order, error) ? "unknown" : "refused";
      write(answer, order.item.id, { code: (error as { code?: unknown }).code ?? null, message: String(error) });
      return answer;
    }
  }

  async #send({ item, way, options }: Order): Promise<Answer> {
    const { hook } = kindOf(item.kind);
    switch (way) {
      case "trigger":
        await this.#app.hooks[hook].trigger(item, options);
        return "accepted";
      case "trigger twice":
        await Promise.allSettled([this.#app.hooks[hook].trigger(item, options)]);
        await this.#app.hooks[hook].trigger(item, options);
        return "accepted";
      case "unit of work":
        await this.#unitOfWork(item, options);
        return "accepted";
      case "own transaction":
        return this.#inOwnTransaction(item, options, "commit");
      case "rolled back":
        return this.#rollBack(item, options);
    }
  }

  async #unitOfWork(item: Item, options: TriggerOptions, changesItsMind = false): Promise<void> {
    const { hook, row } = kindOf(item.kind);
    await this.#app.unitOfWork(async (uow) => {
      if (row) await uow.sql`insert into chaos_row (item) values (${item.id})`;
      uow.triggerHook(hook, item, options);
      if (changesItsMind) throw new ChangedItsMind();
    });
  }

  async #rollBack(item: Item, options: TriggerOptions): Promise<Answer> {
    if (this.#producing.random.chance(0.5)) return this.#inOwnTransaction(item, options, "rollback");
    await this.#unitOfWork(item, options, true).catch((error: unknown) => {
      if (!(error instanceof ChangedItsMind)) throw error;
    });
    return "rolled back";
  }

  async #inOwnTransaction(item: Item, options: TriggerOptions, ending: "commit" | "rollback"): Promise<Answer> {
    const { hook, row } = kindOf(item.kind);
    const transaction: OwnTransaction = await this.#producing.ownTransactions.begin(this.#producing.app);
    if (row) await transaction.insert("chaos_row", item.id);
    await transaction.triggerHook(hook, item, options);
    if (ending === "rollback") {
      await transaction.rollback();
      return "rolled back";
    }
    return transaction.commit().then(
      () => "accepted",
      () => "unknown",
    );
  }
}

/** A trigger without a transaction rejects when its outcome is unknown; a transaction knows that it didn't commit. */
function isUnanswered({ way }: Order, error: unknown): boolean {
  const transient = (error as { transient?: unknown }).transient === true;
  return transient && (way === "trigger" || way === "trigger twice");
}
