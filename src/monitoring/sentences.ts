import type { Explanation, WaitingReason } from "./explanation.ts";

/** The answer about one instance or hook, in words too. */
export function toExplanation(
  subject: "instance" | "hook",
  [reason, ...others]: readonly [WaitingReason, ...WaitingReason[]],
  clockAheadMs: number | null,
): Explanation {
  const sentence = `The ${subject} ${inWords(reason)}${alsoWaits(others.length)}.`;
  if (clockAheadMs === null) return { sentence, reason, others };
  const direction = clockAheadMs > 0 ? "ahead of" : "behind";
  const clock = `The clock of this process is ${Math.abs(clockAheadMs)} ms ${direction} the database's, which decides.`;
  return { sentence: `${sentence} ${clock}`, reason, others, clockAheadMs };
}

function alsoWaits(others: number): string {
  if (others === 0) return "";
  return others === 1 ? ", and another step waits" : `, and ${others} other steps wait`;
}

function inWords(reason: WaitingReason): string {
  switch (reason.reason) {
    case "finished":
      return `is finished: ${reason.status}${reason.at === null ? "" : ` since ${time(reason.at)}`}`;
    case "paused":
      return paused(reason);
    case "diverged":
      return "is held, because its code doesn't match its history: deploy code that does, or restart it";
    case "unreadable":
      return `waits for a process that can read its stored values (${reason.code})`;
    case "sleeping":
      return `sleeps until ${time(reason.until)} in the step "${reason.step.name}"`;
    case "waitingForEvent":
      return `has waited for the event "${reason.type}" since ${time(reason.since)}${deadline(reason.until)}${unreceived(reason.unreceived)}`;
    case "waitingForToken":
      return `has waited for the token of the step "${reason.step.name}" since ${time(reason.since)}${deadline(reason.until)}`;
    case "waitingForChild":
      return `has waited for the end of "${reason.id}" of "${reason.workflowName}" since ${time(reason.since)}${deadline(reason.until)}`;
    case "retrying":
      return retrying(reason);
    case "scheduled":
      return `is due at ${time(reason.until)}`;
    case "inLine":
      return `is in line behind ${reason.ahead} for the key "${reason.key}": ${reason.held}${limit(reason.limit)} slots are held`;
    case "rateLimited":
      return `is in line behind ${reason.ahead} for the key "${reason.key}", whose rate allows the next start at ${time(reason.until)}`;
    case "running":
      return running(reason);
    case "noWorker":
      return `is due, but none of the ${reason.workers} live workers runs "${reason.name}"`;
    case "noDispatcher":
      return "is due, but no worker is alive: no process runs a dispatcher";
    case "due":
      return `has been due since ${time(reason.since)}, and a worker with a free slot will claim it${reason.lostBy === null ? "" : `: the lease of the worker ${reason.lostBy} ran out`}`;
  }
}

function paused({ pausing, by }: WaitingReason & { readonly reason: "paused" }): string {
  const actor = by === null ? "" : ` by ${by}`;
  return pausing
    ? `was paused${actor}, and stops when its running steps have ended`
    : `was paused${actor}: resume it to continue`;
}

function retrying({ step, attempt, of, due, error }: WaitingReason & { readonly reason: "retrying" }): string {
  const tried = `attempt ${attempt}${limit(of)}`;
  const subject = step === null ? "" : ` of the step "${step.name}"`;
  return `waits for ${tried}${subject}, due at ${time(due)}, after an error (${error.code ?? error.name})`;
}

function running({ worker, host, alive, leaseUntil, step }: WaitingReason & { readonly reason: "running" }): string {
  const place = host === null ? "" : ` on ${host}`;
  const state = alive === false ? ", which has died," : "";
  const lease = `is held by the worker ${worker}${place}${state} with a lease until ${time(leaseUntil)}`;
  return step === null ? lease : `${lease}, and has run the step "${step.name}" since ${time(step.since)}`;
}

function time(at: Date): string {
  return at.toISOString();
}

function deadline(until: Date | null): string {
  return until === null ? "" : `, until ${time(until)} at the latest`;
}

function unreceived(count: number): string {
  if (count === 0) return "";
  return count === 1
    ? ", while 1 event of another type is unreceived"
    : `, while ${count} events of other types are unreceived`;
}

function limit(most: number | null): string {
  return most === null ? "" : ` of ${most}`;
}
