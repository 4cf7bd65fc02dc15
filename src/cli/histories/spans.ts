import type { Span } from "../terminal/waterfall.ts";
import type { WireEntry } from "./wire-history.ts";

interface StepState {
  readonly label: string;
  readonly waits: boolean;
  from: number;
  to: number | null;
  failures: number;
  state: Span["state"];
}

const ENDS: Readonly<Record<string, Span["state"]>> = {
  completed: "done",
  received: "done",
  rolledBack: "done",
  timedOut: "failed",
  abandoned: "waited",
  unawaited: "waited",
  rollbackFailed: "failed",
};

const WAITS: readonly string[] = ["sleep", "waitForEvent", "result", "token"];

/**
 * The steps of a run as spans, in the order in which they appear. The journal tells when a step ended; most steps don't say
 * when they began, so those begin with the last entry before.
 */
export function toSpans(entries: readonly WireEntry[], startedAt: string | null): Span[] {
  const steps = new Map<string, StepState>();
  let before = new Date(startedAt ?? entries[0]?.at ?? 0).getTime();
  for (const entry of entries) {
    const { kind, type, name, count, inside = "" } = entry;
    if (type === "rollback" || kind === "rollingBack") continue;
    const at = new Date(entry.at).getTime();
    const undo = kind.startsWith("roll");
    const key = `${inside}/${type}:${name}#${count}${undo ? " undo" : ""}`;
    const step = steps.get(key) ?? begin(entry, undo, kind === "waiting" || kind.endsWith("tarted") ? at : before);
    steps.set(key, step);
    if (kind === "failed" || kind === "rollbackFailed") step.failures++;
    const over = kind === "failed" && entry.dueAt === undefined ? "failed" : ENDS[kind];
    if (over !== undefined) {
      step.to = at;
      step.state = step.waits && over === "done" ? "waited" : over;
    }
    before = at;
  }
  return [...steps.values()].map(({ label, waits, from, to, failures, state }) => ({
    label,
    waits,
    from,
    to,
    state: to === null ? "open" : state,
    note: failures === 0 ? "" : ` ${failures} failed`,
  }));
}

function begin({ type, name, count, inside }: WireEntry, undo: boolean, from: number): StepState {
  const shown = `${inside === undefined ? "" : "  "}${type === "do" ? "" : `${type} `}${name}${count > 1 ? `#${count}` : ""}`;
  return {
    label: undo ? `undo ${shown}` : shown,
    waits: WAITS.includes(type),
    from,
    to: null,
    failures: 0,
    state: "open",
  };
}
