import { InvalidInputError } from "../../errors.ts";
import { type AdapterOptions, parseAdapterOptions } from "../adapter-options.ts";
import { withCodec } from "../codec/codec-engine.ts";
import type { ForeignInstances, ForeignStatement, ForeignTransaction } from "../foreign-transaction.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import { createAdapter, type DatabaseAdapter, Store } from "../store.ts";
import { accessTo, ObjectWakeups } from "./drivers/object-access.ts";
import { type ObjectState, type ObjectStorage, objectDriver } from "./drivers/object-driver.ts";
import { SqliteEngine } from "./engine.ts";

export type { ObjectState, ObjectStorage } from "./drivers/object-driver.ts";

export type DurableObjectOptions = AdapterOptions;

/**
 * The database of a Durable Object that has SQLite (`new_sqlite_classes`). Takes the object's state.
 *
 * @example
 * const database = durableObject(ctx);
 */
export function durableObject(
  state: Pick<ObjectState, "storage">,
  options: DurableObjectOptions = {},
): DatabaseAdapter {
  const { clock, randomness, logger, codec, stackTraces } = parseAdapterOptions(options);
  const storage = checkStorage(state);
  const access = accessTo(storage);
  const onWrite = () => access.onWrite?.();
  const engine = new ObjectEngine({
    driver: objectDriver(storage, onWrite),
    clock,
    randomness,
    wakeups: new ObjectWakeups(access.listeners),
    mutex: access.mutex,
    onForeignInsert: onWrite,
    ...(access.context === null ? {} : { transactionContext: access.context }),
  });
  return createAdapter(new Store({ engine: withCodec(engine, codec, logger), randomness, logger, stackTraces }));
}

type EngineOptions = ConstructorParameters<typeof SqliteEngine>[0];

/** Also reports writes in the application's own transactions: if the object is evicted, only an alarm runs their hooks. */
class ObjectEngine extends SqliteEngine {
  readonly #onForeignInsert: () => void;

  constructor({ onForeignInsert, ...options }: EngineOptions & { readonly onForeignInsert: () => void }) {
    super(options);
    this.#onForeignInsert = onForeignInsert;
  }

  /** An object has one database. */
  override enterForeign(transaction: ForeignTransaction): ForeignTransaction {
    return transaction;
  }

  override foreignInsert(hook: HookInsert): ForeignStatement {
    this.#onForeignInsert();
    return super.foreignInsert(hook);
  }

  override foreignInstances(transaction: ForeignTransaction): ForeignInstances {
    const instances = super.foreignInstances(transaction);
    return {
      insert: (inserts) => {
        this.#onForeignInsert();
        return instances.insert(inserts);
      },
      sendEvent: (event) => {
        this.#onForeignInsert();
        return instances.sendEvent(event);
      },
    };
  }
}

/** An object without SQLite has a `sql` that throws. */
function checkStorage(state: Pick<ObjectState, "storage">): ObjectStorage {
  const storage = state?.storage;
  try {
    if (typeof storage.sql.exec === "function" && typeof storage.transactionSync === "function") return storage;
  } catch {
    // said below
  }
  throw new InvalidInputError(
    "object.storage_invalid",
    "durableObject takes the state of a Durable Object whose class is declared with new_sqlite_classes.",
  );
}
