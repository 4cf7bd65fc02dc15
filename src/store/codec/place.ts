import type { HookReference } from "../hooks/hook-records.ts";
import type { InstanceName, InstanceRun, NewEntry } from "../instances/instance-records.ts";
import type { StreamChunk } from "../streams/stream-statements.ts";
import type { SubjectName } from "../subjects/subject-records.ts";

/**
 * The field that a value is in, and what it belongs to: a text that no other value has, for a codec to bind the value to. A value
 * that is moved to another instance, step, event or hook is refused.
 */
export interface Place {
  readonly text: string;
  /** What the first version told codecs, which bound less: values from then are read by it. */
  readonly former: string;
}

interface PlacedHook extends HookReference {
  readonly name: string;
  readonly key: string | null;
}

/** What an entry is of a step; not its position and run, because a restart gives the next run copies of entries. */
type PlacedEntry = Pick<NewEntry, "kind" | "type" | "name" | "count" | "attempt" | "parent">;

type NamedInstance = InstanceName & Pick<InstanceRun, "ref">;

/** A hook without a key by its id. A trigger with a key may become part of another hook of that key. */
export function placeOfHook(field: "payload" | "trace", { namespace, name, id, key }: PlacedHook): Place {
  const owner = key === null ? ["id", id] : ["key", key];
  return place(`hook.${field}`, [namespace, name, ...owner], [namespace, name]);
}

export function placeOfHookError({ namespace, id }: HookReference): Place {
  return place("hook.error", [namespace, id]);
}

export function placeOfParams(instance: NamedInstance): Place {
  return place("instance.params", ownerOf(instance), [instance.ref]);
}

/** How a run ended. */
export function placeOfEnd(field: "output" | "error" | "rollback", instance: NamedInstance, run: number): Place {
  return place(`instance.${field}`, [...ownerOf(instance), String(run)], [instance.ref]);
}

export function placeOfEntry(instance: NamedInstance, entry: PlacedEntry): Place {
  const { kind, type, name, count, attempt, parent } = entry;
  const step = [kind, type, name, String(count), String(attempt), parent ?? ""];
  return place("journal.value", [...ownerOf(instance), ...step], [instance.ref]);
}

/** Not by the instance's ref, which its sender doesn't know. */
export function placeOfEvent(instance: InstanceName, event: { readonly id: string; readonly type: string }): Place {
  const { namespace, name, id } = instance;
  return place("event.payload", [namespace, name, id, event.type, event.id], [event.type]);
}

export function placeOfChunk(ref: string, { stream, number }: Pick<StreamChunk, "stream" | "number">): Place {
  return place("stream_chunk.data", [ref, stream, String(number)]);
}

export function placeOfSubject(field: "cursor" | "meta" | "error", subject: SubjectName): Place {
  return place(`subject.${field}`, [subject.profile, subject.dispatcherId, subject.subjectKey]);
}

function ownerOf({ namespace, name, id, ref }: NamedInstance): string[] {
  return [namespace, name, id, ref];
}

function place(field: string, owner: readonly string[], former = owner): Place {
  return { text: JSON.stringify([field, ...owner]), former: JSON.stringify([field, ...former]) };
}
