import type { Clock } from "../../../clock.ts";
import type { AsyncTransaction, ForeignInstances, ForeignStatement } from "../../foreign-transaction.ts";
import type { HookInsert } from "../../hooks/hook-records.ts";
import { eventRelay, triggerRelay } from "../../hooks/relay.ts";
import type { EventInsert, InstanceInsert, InstanceInsertResult } from "../../instances/instance-records.ts";
import { foreignInsertHook, foreignInsertInstances } from "../sql/foreign-inserts.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { traitsToJson } from "./instance-columns.ts";
import { byName, inOrder } from "./locking-order.ts";

/** A trigger in the application's own transaction; with a key or with limits, it is relayed. */
export function foreignTrigger(schema: SchemaPrefix, hook: HookInsert, now: number | null): ForeignStatement {
  return hook.key === null && hook.line === undefined
    ? insertOf(schema, hook, null, now)
    : relayOf(schema, triggerRelay(hook), now);
}

const relayOf = (schema: SchemaPrefix, { hook, group }: ReturnType<typeof triggerRelay>, now: number | null) =>
  insertOf(schema, hook, group, now);

function insertOf(schema: SchemaPrefix, hook: HookInsert, group: string | null, now: number | null): ForeignStatement {
  const { namespace, id, name, payload, retries, trace, ownId, processAt } = hook;
  const contents = [namespace, id, name, payload, retries, trace, String(ownId)];
  return {
    text: foreignInsertHook(schema).text,
    parameters: [textOf(now), ...contents, textOf(processAt), group],
    confirmed: true,
  };
}

/** Instances and events in a transaction of the application's. */
export class PostgresForeignInstances implements ForeignInstances {
  readonly #transaction: AsyncTransaction;
  readonly #schema: SchemaPrefix;
  readonly #clock: Clock;
  readonly #onWritten: (transactionId: string | null) => void;

  constructor(
    transaction: AsyncTransaction,
    schema: SchemaPrefix,
    clock: Clock,
    onWritten: (transactionId: string | null) => void,
  ) {
    this.#transaction = transaction;
    this.#schema = schema;
    this.#clock = clock;
    this.#onWritten = onWritten;
  }

  async insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    const ordered = inOrder(instances, byName);
    const items = `[${ordered.map(toItem).join(",")}]`;
    const params = `[${ordered.map((instance) => instance.params).join(",")}]`;
    const { text } = foreignInsertInstances(this.#schema);
    const [row] = await this.#transaction.execute(text, [textOf(this.#now()), items, params]);
    const result = row?.["result"] as string | null | undefined;
    if (typeof result !== "string") {
      this.#onWritten(null);
      return [];
    }
    const { transaction, now, created } = JSON.parse(result) as Created;
    this.#onWritten(transaction);
    const refs = new Set(created);
    return instances.map(({ ref }) => ({ result: refs.has(ref) ? "created" : "existing", ref, at: now }));
  }

  async sendEvent(event: EventInsert): Promise<{ readonly result: "relayed" }> {
    const { text, parameters } = relayOf(this.#schema, eventRelay(event, relayIdOf(event)), this.#now());
    const [row] = await this.#transaction.execute(text, parameters);
    const transaction = row?.["result"];
    this.#onWritten(typeof transaction === "string" ? transaction : null);
    return { result: "relayed" };
  }

  #now(): number | null {
    return this.#clock.controlled ? this.#clock.now() : null;
  }
}

interface Created {
  readonly transaction: string;
  readonly now: number;
  readonly created: readonly string[];
}

/** An event of one id is sent to an instance once, so its relay is written once. */
function relayIdOf({ name, id, eventId }: EventInsert): string {
  return JSON.stringify([name, id, eventId]);
}

function toItem({ ref, namespace, name, id, version, parent, traits }: InstanceInsert): string {
  const plain = JSON.stringify({ ref, namespace, name, id, version, parent }).slice(0, -1);
  return `${plain},"traits":${traits === null ? "null" : traitsToJson(traits)}}`;
}

function textOf(value: number | null): string | null {
  return value === null ? null : String(value);
}
