import type { Labels } from "../../workflows/define/labels.ts";
import type { InstanceListOptions } from "../../workflows/instances/workflow-binding.ts";

/** An instance that a request names, to be created or changed. */
export interface RequestedInstance {
  /** Null if the server chooses it. */
  readonly id: string | null;
  /** The labels that the caller gives it. */
  readonly labels: Labels;
  /** The size of the params as JSON; 0 without. */
  readonly paramsBytes: number;
}

/** What a request is about in detail: read from its query and its body, which are checked first. */
export interface RequestDetails {
  /** The instances that it creates, deletes in a batch, or makes sure of. Empty for requests that name no instance. */
  readonly instances: readonly RequestedInstance[];
  /** The filter of a list, or of an operation on many instances; null for others. */
  readonly filter: InstanceListOptions | null;
  /** The event that it sends; null for others. */
  readonly event: { readonly type: string; readonly payloadBytes: number } | null;
  /** The hooks that it redrives, discards or cancels: their ids, or a name and a key; null for others. */
  readonly hooks: { readonly ids: readonly string[]; readonly name?: string; readonly key?: string } | null;
  /** The job that it starts: its action, and its filter as it was sent. Absent for others. */
  readonly job?: {
    readonly action: string;
    readonly instances?: object;
    readonly hooks?: object;
    readonly options?: object;
    readonly dryRun?: boolean;
  };
}

export const NO_DETAILS: RequestDetails = { instances: [], filter: null, event: null, hooks: null };

/** An instance of a body, as a policy sees it. */
export function requestedInstance(
  id: string | undefined,
  { labels = {}, params }: { readonly labels?: Labels | undefined; readonly params?: unknown } = {},
): RequestedInstance {
  return { id: id ?? null, labels, paramsBytes: bytesOf(params) };
}

export function requestedEvent({ type, payload }: { readonly type: string; readonly payload?: unknown }) {
  return { type, payloadBytes: bytesOf(payload) };
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : new TextEncoder().encode(JSON.stringify(value)).length;
}
