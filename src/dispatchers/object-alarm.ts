import type { Clock } from "../clock.ts";
import { accessTo } from "../store/sqlite/drivers/object-access.ts";
import type { ObjectStorage } from "../store/sqlite/drivers/object-driver.ts";

/** How soon an object is called back that is lost with something under way. */
const SAFETY_MS = 2000;

/** Milliseconds until something is due; null if nothing waits. */
type NextWake = () => Promise<number | null>;

const alarms = new WeakMap<ObjectStorage, ObjectAlarm>();

/** All that runs in an object shares its alarm. */
export function alarmOf(storage: ObjectStorage, clock: Clock): ObjectAlarm {
  let alarm = alarms.get(storage);
  if (alarm === undefined) {
    alarm = new ObjectAlarm(storage, clock);
    alarms.set(storage, alarm);
  }
  return alarm;
}

/**
 * The one alarm of an object. Its host may use it, too: an earlier alarm of the host's is left alone, a later one is remembered
 * and set again after ours.
 *
 * Every write is followed by a safety alarm, in the same turn and so in the same commit. When nothing is under way any more it
 * is replaced by one for the time at which something is due, or taken away. So whenever an object is lost, it has an alarm if
 * it has work.
 */
export class ObjectAlarm {
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  readonly #wakes = new Set<NextWake>();
  /** Counts writes, to notice those that happen while we look. */
  #writes = 0;
  #covering: Promise<void> | undefined;

  constructor(storage: ObjectStorage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
    accessTo(storage).onWrite = () => this.#written();
  }

  /** Tells it of something else that may be due. */
  watch(nextWake: NextWake): void {
    this.#wakes.add(nextWake);
  }

  /** Called when it fires: the host's own time may have come, too. */
  async fired(): Promise<void> {
    const { host } = this.#read();
    const existing = await this.#storage.getAlarm();
    this.#remember(
      existing === null ? null : this.#read().own,
      host !== null && host <= this.#clock.now() ? null : host,
    );
  }

  /** Makes sure that the object is called back soon, and never later than before. */
  async cover(delayMs: number = SAFETY_MS): Promise<void> {
    const existing = await this.#storage.getAlarm();
    const wanted = this.#clock.now() + delayMs;
    if (existing === null || existing > wanted) await this.#replace(existing, wanted);
  }

  /** Sets it for the time at which something is due. Does nothing if something is written meanwhile: that write has set one. */
  async settle(): Promise<void> {
    const writes = this.#writes;
    const wakes = (await Promise.all(Array.from(this.#wakes, (next) => next()))).filter((wake) => wake !== null);
    const now = this.#clock.now();
    const existing = await this.#storage.getAlarm();
    if (writes !== this.#writes) return;
    const { own, host } = this.#read();
    const hosts = existing === null || existing === own ? host : existing;
    const due = wakes.length === 0 ? null : Math.ceil(now + Math.max(Math.min(...wakes), 0));
    if (due !== null && (hosts === null || due < hosts)) {
      if (due !== existing) await this.#replace(existing, due);
    } else if (hosts !== existing) {
      this.#remember(null, null);
      await (hosts === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(hosts));
    }
  }

  #written(): void {
    this.#writes++;
    this.#covering ??= this.cover().finally(() => {
      this.#covering = undefined;
    });
    this.#covering.catch(() => {}); // a storage that fails resets the object, with what was just written
  }

  async #replace(existing: number | null, at: number): Promise<void> {
    const { own, host } = this.#read();
    this.#remember(at, existing === null || existing === own ? host : existing);
    await this.#storage.setAlarm(at);
  }

  #read(): { own: number | null; host: number | null } {
    const { sql } = this.#storage;
    sql.exec("create table if not exists perdure_alarm (id integer primary key, own integer, host integer)").toArray();
    const [row] = sql.exec("select own, host from perdure_alarm where id = 1").toArray();
    return { own: (row?.own ?? null) as number | null, host: (row?.host ?? null) as number | null };
  }

  #remember(own: number | null, host: number | null): void {
    this.#storage.sql
      .exec("insert or replace into perdure_alarm (id, own, host) values (1, ?, ?)", own, host)
      .toArray();
  }
}
