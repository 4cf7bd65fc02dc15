import type { ExecutionParts } from "./execution-parts.ts";

/** What every answer of the database says about an instance. */
export interface InstanceNews {
  readonly wakes: number;
  readonly paused: boolean;
  /** The database's time of the answer. */
  readonly at: number;
}

/** With when it was asked for, by the monotonic clock. */
export interface TimedNews extends InstanceNews {
  readonly askedAt: number;
}

/** What an execution learns from an answer. */
export function observe({ time, feed, possession }: ExecutionParts, { wakes, paused, at, askedAt }: TimedNews): void {
  time.observe(at, askedAt);
  feed.heard(wakes);
  possession.pause.observe(paused);
}

/** Gives an execution everything that is stored of its run. Gives false if the run isn't there any more, or isn't ours. */
export async function load(parts: ExecutionParts): Promise<boolean> {
  const { host, instance, time, code, commits, feed, possession, end } = parts;
  const lookedAt = time.now();
  parts.held = host.beginLoad();
  const history = await host.load({ ...possession.lease, instance }, parts.held, () => end.end === undefined);
  if (history === null) return false;
  code.load(history.entries);
  commits.goOnAfter(history.entries);
  feed.add(history, lookedAt);
  feed.markReceived(history.entries);
  return true;
}
