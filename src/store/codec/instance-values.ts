import type { HookInsert } from "../hooks/hook-records.ts";
import {
  type EndNotice,
  type EventInsert,
  type FirstEvent,
  type HistoryEntry,
  type InstanceCommit,
  type InstanceInsert,
  type InstanceName,
  type InstanceOutcome,
  type InstanceRecord,
  type InstanceRun,
  isNotice,
  type JournalEntry,
  type NewEntry,
  type StoredEvent,
  type TimedOutRun,
  type UnreceivedRecord,
} from "../instances/instance-records.ts";
import { encodeTrigger } from "./codec-hooks.ts";
import { locationOfEnd, locationOfEntry, locationOfEvent, locationOfParams, type ValueLocation } from "./location.ts";
import type { ValueCodec } from "./value-codec.ts";

/** How a run ended, in an instance or in what is kept of an earlier run. */
interface RunEnd {
  readonly run: number;
  readonly output: string | null;
  readonly error: string | null;
  readonly rollback: string | null;
}

type EndField = "output" | "error" | "rollback";
type NamedInstance = InstanceName & Pick<InstanceRun, "ref">;

/** Encodes and decodes the users' values of an instance. Each is bound to the instance and to its step, event or run. */
export class InstanceValues {
  readonly #codec: ValueCodec;

  constructor(codec: ValueCodec) {
    this.#codec = codec;
  }

  async encodeInsert(instance: InstanceInsert): Promise<InstanceInsert> {
    const { event } = instance;
    const encoded = await this.encodeParams(instance);
    return event === undefined ? encoded : { ...encoded, event: await this.#encodeFirst(instance, event) };
  }

  async #encodeFirst({ namespace, name, id }: InstanceName, event: FirstEvent): Promise<FirstEvent> {
    const { eventId, type, payload } = await this.encodeEvent({ ...event, namespace, name, id });
    return { eventId, type, payload };
  }

  async encodeParams<Owner extends NamedInstance & { readonly params: string }>(instance: Owner): Promise<Owner> {
    return { ...instance, params: await this.#codec.encode(instance.params, locationOfParams(instance)) };
  }

  async decodeParams<Owner extends NamedInstance & { readonly params: string }>(instance: Owner): Promise<Owner> {
    return { ...instance, params: await this.#codec.decode(instance.params, locationOfParams(instance)) };
  }

  async decodeRecord(record: InstanceRecord): Promise<InstanceRecord> {
    return this.decodeEnd(record, await this.decodeParams(record));
  }

  async decodeEnd<Run extends RunEnd>(instance: NamedInstance, end: Run): Promise<Run> {
    const { run } = end;
    return {
      ...end,
      output: await this.#codec.decodeOrNull(end.output, locationOfEnd("output", instance, run)),
      error: await this.#codec.decodeOrNull(end.error, locationOfEnd("error", instance, run)),
      rollback: await this.#codec.decodeOrNull(end.rollback, locationOfEnd("rollback", instance, run)),
    };
  }

  async decodeError<Instance extends NamedInstance & Pick<RunEnd, "run" | "error">>(
    instance: Instance,
  ): Promise<Instance> {
    const location = locationOfEnd("error", instance, instance.run);
    return { ...instance, error: await this.#codec.decodeOrNull(instance.error, location) };
  }

  async encodeCommit(commit: InstanceCommit): Promise<InstanceCommit> {
    const { ref, run, outcome } = commit;
    const instance = { ...commit.instance, ref };
    const encode = async (entry: NewEntry): Promise<NewEntry> => ({
      ...entry,
      value: await this.#codec.encodeOrNull(entry.value, locationOfEntry(instance, entry)),
    });
    return {
      ...commit,
      entries: await Promise.all(commit.entries.map(encode)),
      outcome: await this.#encodeOutcome(outcome, (field) => locationOfEnd(field, instance, run)),
      ...(commit.hook === undefined ? {} : { hook: await this.encodeHook(commit.hook) }),
    };
  }

  async encodeTimedOut(timedOut: TimedOutRun): Promise<TimedOutRun> {
    const { instance, ref, run, error, hook } = timedOut;
    return {
      ...timedOut,
      error: await this.#codec.encode(error, locationOfEnd("error", { ...instance, ref }, run)),
      ...(hook === undefined ? {} : { hook: await this.encodeHook(hook) }),
    };
  }

  /** One that is triggered with the end of a run. */
  encodeHook(hook: HookInsert): Promise<HookInsert> {
    return encodeTrigger(this.#codec, hook);
  }

  decodeEntries<Entry extends JournalEntry>(instance: NamedInstance, entries: readonly Entry[]): Promise<Entry[]> {
    const decode = async (entry: Entry): Promise<Entry> =>
      entry.value === null
        ? entry
        : { ...entry, value: await this.#codec.decode(entry.value, locationOfEntry(instance, entry)) };
    return Promise.all(entries.map(decode));
  }

  async decodeHistory(instance: NamedInstance, entries: readonly HistoryEntry[]): Promise<HistoryEntry[]> {
    const decode = async (entry: HistoryEntry): Promise<HistoryEntry> => {
      const { eventId, eventType, eventPayload } = entry;
      if (eventId === null || eventType === null || eventPayload === null) return entry;
      const event = { id: eventId, type: eventType };
      return { ...entry, eventPayload: await this.#decodePayload(instance, event, eventPayload) };
    };
    return Promise.all((await this.decodeEntries(instance, entries)).map(decode));
  }

  async encodeEvent(event: EventInsert): Promise<EventInsert> {
    const location = locationOfEvent(event, { id: event.eventId, type: event.type });
    return { ...event, payload: await this.#codec.encode(event.payload, location) };
  }

  decodeEvents(instance: InstanceName, events: readonly StoredEvent[]): Promise<StoredEvent[]> {
    const decode = async (event: StoredEvent): Promise<StoredEvent> => ({
      ...event,
      payload: await this.#decodePayload(instance, event, event.payload),
    });
    return Promise.all(events.map(decode));
  }

  decodeUnreceived(instance: NamedInstance, events: readonly UnreceivedRecord[]): Promise<UnreceivedRecord[]> {
    const decode = async (event: UnreceivedRecord): Promise<UnreceivedRecord> =>
      event.payload === null ? event : { ...event, payload: await this.#decodePayload(instance, event, event.payload) };
    return Promise.all(events.map(decode));
  }

  /** The end of an instance has the values of that instance, as they are stored with it. */
  async decodeNotice(end: EndNotice): Promise<EndNotice> {
    if (end.status === "complete") {
      return { ...end, output: await this.#codec.decode(end.output, locationOfEnd("output", end, end.run)) };
    }
    if (end.status !== "errored") return end;
    return { ...end, error: await this.#codec.decode(end.error, locationOfEnd("error", end, end.run)) };
  }

  async #decodePayload(
    instance: InstanceName,
    event: { readonly id: string; readonly type: string },
    payload: string,
  ): Promise<string> {
    if (!isNotice(event.type)) return this.#codec.decode(payload, locationOfEvent(instance, event));
    return JSON.stringify(await this.decodeNotice(JSON.parse(payload) as EndNotice));
  }

  async #encodeOutcome(
    outcome: InstanceOutcome,
    locationOf: (field: EndField) => ValueLocation,
  ): Promise<InstanceOutcome> {
    if (outcome.kind === "completed") {
      return { ...outcome, output: await this.#codec.encode(outcome.output, locationOf("output")) };
    }
    const error =
      "error" in outcome && outcome.error !== undefined
        ? await this.#codec.encode(outcome.error, locationOf("error"))
        : null;
    const given = "rollback" in outcome ? (outcome.rollback ?? null) : null;
    const rollback = await this.#codec.encodeOrNull(given, locationOf("rollback"));
    if (outcome.kind === "errored") return { ...outcome, error: error as string, rollback };
    if (outcome.kind === "parked" || outcome.kind === "released")
      return error === null ? outcome : { ...outcome, error };
    if (outcome.kind === "rollingBack") return { ...outcome, error: error as string };
    return outcome.kind === "terminated" ? { ...outcome, rollback } : outcome;
  }
}
