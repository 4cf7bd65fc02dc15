import type { HookReference } from "../hooks/hook-records.ts";
import type { InstanceName, InstanceRun, NewEntry } from "../instances/instance-records.ts";
import type { StreamChunk } from "../streams/stream-records.ts";
import type { SubjectName } from "../subjects/subject-records.ts";

/**
 * The field and the owner of a value, as a text that no other value has, for a codec to bind the value to. A value
 * that is moved to another instance, step, event or hook is refused.
 */
export interface ValueLocation {
  readonly text: string;
  /** The location that the first version gave to codecs, which names less. Values from then are read with it. */
  readonly former: string;
}

interface LocatedHook extends HookReference {
  readonly name: string;
  readonly key: string | null;
}

/** Names an entry by its step, not by run and position, because a restart copies entries to the next run. */
type LocatedEntry = Pick<NewEntry, "kind" | "type" | "name" | "count" | "attempt" | "parent">;

type NamedInstance = InstanceName & Pick<InstanceRun, "ref">;

/** A hook without a key by its id. A trigger with a key may become part of another hook of that key. */
export function locationOfHook(field: "payload" | "trace", { namespace, name, id, key }: LocatedHook): ValueLocation {
  const owner = key === null ? ["id", id] : ["key", key];
  return location(`hook.${field}`, [namespace, name, ...owner], [namespace, name]);
}

export function locationOfHookError({ namespace, id }: HookReference): ValueLocation {
  return location("hook.error", [namespace, id]);
}

export function locationOfParams(instance: NamedInstance): ValueLocation {
  return location("instance.params", ownerOf(instance), [instance.ref]);
}

/** How a run ended. */
export function locationOfEnd(
  field: "output" | "error" | "rollback",
  instance: NamedInstance,
  run: number,
): ValueLocation {
  return location(`instance.${field}`, [...ownerOf(instance), String(run)], [instance.ref]);
}

export function locationOfEntry(instance: NamedInstance, entry: LocatedEntry): ValueLocation {
  const { kind, type, name, count, attempt, parent } = entry;
  const step = [kind, type, name, String(count), String(attempt), parent ?? ""];
  return location("journal.value", [...ownerOf(instance), ...step], [instance.ref]);
}

/** Not by the instance's ref, which its sender doesn't know. */
export function locationOfEvent(
  instance: InstanceName,
  event: { readonly id: string; readonly type: string },
): ValueLocation {
  const { namespace, name, id } = instance;
  return location("event.payload", [namespace, name, id, event.type, event.id], [event.type]);
}

export function locationOfChunk(
  ref: string,
  { stream, number }: Pick<StreamChunk, "stream" | "number">,
): ValueLocation {
  return location("stream_chunk.data", [ref, stream, String(number)]);
}

export function locationOfSubject(field: "cursor" | "meta" | "error", subject: SubjectName): ValueLocation {
  return location(`subject.${field}`, [subject.profile, subject.dispatcherId, subject.subjectKey]);
}

function ownerOf({ namespace, name, id, ref }: NamedInstance): string[] {
  return [namespace, name, id, ref];
}

function location(field: string, owner: readonly string[], former = owner): ValueLocation {
  return { text: JSON.stringify([field, ...owner]), former: JSON.stringify([field, ...former]) };
}
