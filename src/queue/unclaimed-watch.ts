import { pause } from "../clock.ts";
import { raiseAlert } from "../monitoring/alerts.ts";
import type { DueName, UnclaimedQuestion } from "../store/queue/unclaimed.ts";
import type { Store } from "../store/store.ts";
import type { ListedWorker } from "../store/workers/stored-workers.ts";
import type { WorkerNames } from "../store/workers/worker-records.ts";
import { listsName } from "./describe-worker.ts";

/**
 * Questions that follow each other faster carry no look. A loop asks once more 100 ms after the last notice of another process.
 */
const PAUSE_MS = 50;
const DEPTH = 100;
/** Of the look after one that has found so many rows of a name which this process doesn't run: others may be behind them. */
const GREATER_DEPTH = 10_000;
/** For how long no other look is as deep. */
const DEEP_PAUSE_MS = 30_000;
/** A worker that has just started may not be listed yet. */
const PATIENCE_MS = 3000;
/** For how long a name of other workers isn't looked up again. */
const CLAIMED_MS = 60_000;
/** For how long a name that was reported isn't reported again. */
const REPORTED_MS = 3_600_000;
/** The most names that are remembered. */
const MOST_REMEMBERED = 10_000;

/**
 * Reports hooks and instances that are due under names that no live worker runs. A look needs no statement of its own: it rides
 * on the questions when something is due, which a worker asks after each notice and every half a minute. Only if there is a
 * name that this process doesn't run, the workers are listed.
 */
export class UnclaimedWatch {
  readonly #store: Store;
  readonly #names: ReadonlyMap<string, WorkerNames>;
  readonly #namespaces: readonly string[];
  /** By the monotonic clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookedDeepAt = Number.NEGATIVE_INFINITY;
  /** Whether rows of one name may have hidden others. */
  #mayHide = false;
  /** Until when a name is left alone. */
  readonly #known = new Map<string, number>();

  /** `names` are those that this process runs, by namespace. */
  constructor(store: Store, names: ReadonlyMap<string, WorkerNames>) {
    this.#store = store;
    this.#names = names;
    this.#namespaces = [...names.keys()];
  }

  /** For a question that is about to be asked. */
  get question(): UnclaimedQuestion | undefined {
    const now = this.#store.clock.monotonic();
    if (now < this.#lookedAt + PAUSE_MS) return undefined;
    this.#lookedAt = now;
    const deep = this.#mayHide && now >= this.#lookedDeepAt + DEEP_PAUSE_MS;
    if (deep) this.#lookedDeepAt = now;
    const depth = deep ? GREATER_DEPTH : DEPTH;
    return { namespaces: this.#namespaces, depth, found: (names) => this.#found(names) };
  }

  #found(names: readonly DueName[]): void {
    const now = this.#store.clock.monotonic();
    const foreign = names.filter((due) => isUsers(due) && !isNamed(this.#names.get(due.namespace), due));
    this.#mayHide = foreign.some(({ rows }) => rows >= DEPTH);
    const unknown = foreign.filter((due) => (this.#known.get(keyOf(due)) ?? Number.NEGATIVE_INFINITY) <= now);
    if (unknown.length === 0) return;
    if (this.#known.size > MOST_REMEMBERED) this.#known.clear();
    for (const due of unknown) this.#known.set(keyOf(due), now + CLAIMED_MS);
    void this.#report(unknown).catch(() => {}); // the database is unavailable: the next look finds them again
  }

  async #report(unknown: readonly DueName[]): Promise<void> {
    const { clock, logger } = this.#store;
    const unclaimed = await this.#unclaimed(unknown);
    if (unclaimed.length === 0) return;
    await pause(clock, PATIENCE_MS);
    for (const [namespace, names] of Map.groupBy(await this.#unclaimed(unclaimed), (due) => due.namespace)) {
      for (const due of names) this.#known.set(keyOf(due), clock.monotonic() + REPORTED_MS);
      const ofKind = (kind: DueName["kind"]) => names.filter((due) => due.kind === kind).map(({ name }) => name);
      const details = { hooks: ofKind("hook"), workflows: ofKind("instance") };
      raiseAlert(this.#store, namespace, { kind: "unclaimed", ...details });
      logger.warn(
        "Hooks or instances are due under names that no live worker runs. They wait until a process registers these names; " +
          "`unclaimed()` lists them.",
        { namespace, ...details },
      );
    }
  }

  async #unclaimed(names: readonly DueName[]): Promise<DueName[]> {
    const groups = Map.groupBy(names, ({ namespace }) => namespace);
    const found = Array.from(groups, async ([namespace, due]) =>
      findUnclaimed(await this.#store.workers.list(namespace), due),
    );
    return (await Promise.all(found)).flat();
  }
}

/** The names of users that none of these workers runs, of those that live. */
export function findUnclaimed(workers: readonly ListedWorker[], names: readonly DueName[]): DueName[] {
  const live = workers.filter(({ alive }) => alive);
  return names.filter((due) => isUsers(due) && !live.some(({ work }) => isNamed(work[due.namespace], due)));
}

function isNamed(names: WorkerNames | undefined, { kind, name }: DueName): boolean {
  return listsName(names?.[kind === "hook" ? "hooks" : "workflows"], name);
}

/** The library's own hooks belong to workflows, which are looked at themselves. */
function isUsers({ name }: DueName): boolean {
  return !name.startsWith("$");
}

function keyOf({ kind, namespace, name }: DueName): string {
  return `${kind} ${namespace} ${name}`;
}
