import type { HookInsert } from "../hook-records.ts";
import type {
  EventInsert,
  HistoryEntry,
  InstanceCommit,
  InstanceInsert,
  InstanceOutcome,
  InstanceRecord,
  JournalEntry,
  NewEntry,
  StoredEvent,
} from "../instance-records.ts";
import { encodeTrigger } from "./codec-hooks.ts";
import { placeOf, type ValueCodec } from "./value-codec.ts";

/** How a run ended, in an instance or in what is kept of an earlier run. */
interface RunEnd {
  readonly output: string | null;
  readonly error: string | null;
  readonly rollback: string | null;
}

/** What of an instance is a user's value. All but events, which are sent to a name, are bound to the instance's ref. */
export class InstanceValues {
  readonly #codec: ValueCodec;

  constructor(codec: ValueCodec) {
    this.#codec = codec;
  }

  async encodeInsert(instance: InstanceInsert): Promise<InstanceInsert> {
    return this.encodeParams(instance);
  }

  async encodeParams<Owner extends { readonly ref: string; readonly params: string }>(instance: Owner): Promise<Owner> {
    return { ...instance, params: await this.#codec.encode(instance.params, placeOfParams(instance.ref)) };
  }

  async decodeParams<Owner extends { readonly ref: string; readonly params: string }>(instance: Owner): Promise<Owner> {
    return { ...instance, params: await this.#codec.decode(instance.params, placeOfParams(instance.ref)) };
  }

  async decodeRecord(record: InstanceRecord): Promise<InstanceRecord> {
    return this.decodeEnd(record.ref, await this.decodeParams(record));
  }

  async decodeEnd<Run extends RunEnd>(ref: string, run: Run): Promise<Run> {
    return {
      ...run,
      output: await this.#codec.decodeOrNull(run.output, placeOfOutput(ref)),
      error: await this.#codec.decodeOrNull(run.error, placeOfError(ref)),
      rollback: await this.#codec.decodeOrNull(run.rollback, placeOfRollback(ref)),
    };
  }

  async encodeCommit(commit: InstanceCommit): Promise<InstanceCommit> {
    const encode = async (entry: NewEntry): Promise<NewEntry> => ({
      ...entry,
      value: await this.#codec.encodeOrNull(entry.value, placeOfEntry(commit.ref)),
    });
    return {
      ...commit,
      entries: await Promise.all(commit.entries.map(encode)),
      outcome: await this.#encodeOutcome(commit.ref, commit.outcome),
      ...(commit.hook === undefined ? {} : { hook: await this.encodeHook(commit.hook) }),
    };
  }

  /** One that is triggered with the end of a run. */
  encodeHook(hook: HookInsert): Promise<HookInsert> {
    return encodeTrigger(this.#codec, hook);
  }

  decodeEntries<Entry extends JournalEntry>(ref: string, entries: readonly Entry[]): Promise<Entry[]> {
    const decode = async (entry: Entry): Promise<Entry> =>
      entry.value === null ? entry : { ...entry, value: await this.#codec.decode(entry.value, placeOfEntry(ref)) };
    return Promise.all(entries.map(decode));
  }

  async decodeHistory(ref: string, entries: readonly HistoryEntry[]): Promise<HistoryEntry[]> {
    const decode = async (entry: HistoryEntry): Promise<HistoryEntry> => ({
      ...entry,
      eventPayload: await this.#codec.decodeOrNull(entry.eventPayload, placeOfEvent(entry.eventType ?? "")),
    });
    return Promise.all((await this.decodeEntries(ref, entries)).map(decode));
  }

  async encodeEvent(event: EventInsert): Promise<EventInsert> {
    return { ...event, payload: await this.#codec.encode(event.payload, placeOfEvent(event.type)) };
  }

  decodeEvents(events: readonly StoredEvent[]): Promise<StoredEvent[]> {
    const decode = async (event: StoredEvent): Promise<StoredEvent> => ({
      ...event,
      payload: await this.#codec.decode(event.payload, placeOfEvent(event.type)),
    });
    return Promise.all(events.map(decode));
  }

  async #encodeOutcome(ref: string, outcome: InstanceOutcome): Promise<InstanceOutcome> {
    if (outcome.kind === "completed") {
      return { ...outcome, output: await this.#codec.encode(outcome.output, placeOfOutput(ref)) };
    }
    const error = "error" in outcome ? await this.#codec.encode(outcome.error, placeOfError(ref)) : null;
    const given = "rollback" in outcome ? (outcome.rollback ?? null) : null;
    const rollback = await this.#codec.encodeOrNull(given, placeOfRollback(ref));
    if (outcome.kind === "errored") return { ...outcome, error: error as string, rollback };
    if (outcome.kind === "rollingBack") return { ...outcome, error: error as string };
    return outcome.kind === "terminated" ? { ...outcome, rollback } : outcome;
  }
}

function placeOfParams(ref: string): string {
  return placeOf("instance.params", ref);
}

function placeOfOutput(ref: string): string {
  return placeOf("instance.output", ref);
}

function placeOfError(ref: string): string {
  return placeOf("instance.error", ref);
}

function placeOfRollback(ref: string): string {
  return placeOf("instance.rollback", ref);
}

function placeOfEntry(ref: string): string {
  return placeOf("journal.value", ref);
}

function placeOfEvent(type: string): string {
  return placeOf("event.payload", type);
}
