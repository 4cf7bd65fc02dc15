import type { ClaimedInstance, InstanceCommit } from "../../store/instances/instance-records.ts";
import type { HeldLoad } from "../../store/instances/load-budget.ts";
import { AttemptResults } from "./attempt-results.ts";
import { Bodies } from "./bodies.ts";
import { CodeRun } from "./code-run.ts";
import { type CommitListener, Commits } from "./commits.ts";
import { DatabaseTime } from "./database-time.ts";
import { Endings } from "./endings.ts";
import { EventFeed } from "./event-feed.ts";
import { EventLookup } from "./event-lookup.ts";
import { EndSignal } from "./execution-end.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { OpenWaits } from "./open-waits.ts";
import { Outcomes } from "./outcomes.ts";
import { Possession } from "./possession.ts";
import { Progress } from "./progress.ts";

/** What the parts of an execution tell it. */
interface ExecutionListener extends CommitListener {
  /** The code has done something. */
  goOn(): void;
  /** There is something to write. */
  soon(): void;
  /** A body has ended; `deliver` tells the code. */
  arrive(deliver: () => void): void;
}

/** What an execution consists of. Each part knows those that it needs; here they are put together. */
export class ExecutionParts {
  readonly instance: ClaimedInstance;
  readonly host: ExecutionHost;
  readonly possession: Possession;
  readonly time: DatabaseTime;
  readonly end = new EndSignal();
  readonly endings = new Endings();
  readonly waits = new OpenWaits();
  readonly feed: EventFeed;
  readonly lookup: EventLookup;
  readonly bodies: Bodies;
  readonly outcomes: Outcomes;
  readonly code: CodeRun;
  readonly commits: Commits;
  readonly progress: Progress;
  readonly results: AttemptResults;
  /** What was loaded, while it is needed. */
  held: HeldLoad | null = null;

  constructor(instance: ClaimedInstance, askedAt: number, host: ExecutionHost, listener: ExecutionListener) {
    this.instance = instance;
    this.host = host;
    this.possession = new Possession(instance);
    this.time = new DatabaseTime(host.clock, instance.claimedAt, askedAt);
    this.feed = new EventFeed(instance.wakes);
    this.lookup = new EventLookup(host, this.time, this.feed, this.waits);
    this.bodies = this.#createBodies();
    this.outcomes = new Outcomes(this.time, this.bodies, this.waits, this.feed);
    this.code = this.#createCode(listener);
    this.commits = this.#createCommits(listener);
    this.progress = new Progress(
      this.commits,
      () => listener.soon(),
      (range) => host.dropProgress({ ref: instance.ref, run: instance.run, ...range }),
    );
    this.results = this.#createResults(listener);
  }

  /** The code has been told everything that was loaded. */
  releaseLoad(): void {
    this.held?.release();
    this.held = null;
  }

  #createBodies(): Bodies {
    const { host, instance, possession } = this;
    return new Bodies(host.clock, instance, (attempt, result) => this.results.ended(attempt, result), {
      emit: (attempt, value) => this.progress.emit(attempt, value),
      keep: (attempt, stream) => host.keepStream(attempt, possession.lease, stream),
    });
  }

  #createCode(listener: ExecutionListener): CodeRun {
    const { instance, host, endings, bodies, waits } = this;
    return new CodeRun({
      instance,
      host,
      endings,
      bodies,
      waits,
      goOn: () => listener.goOn(),
      foundEnded: (call) => this.progress.foundEnded(call),
      fail: (error) => listener.failed(error),
      refusal: () => (this.commits.room.full ? this.commits.room.refusal() : null),
    });
  }

  #createCommits(listener: ExecutionListener): Commits {
    const { instance, host, possession } = this;
    const limited = instance.slotKey !== null; // somebody else may have its slot when we let go
    const send = (commit: InstanceCommit) => host.commit(limited ? { ...commit, limited } : commit, instance);
    const means = { pause: possession.pause, clock: host.clock, limits: host.limits };
    return new Commits(instance, send, means, listener);
  }

  #createResults(listener: ExecutionListener): AttemptResults {
    const { host, time, bodies, waits, commits, progress, end } = this;
    return new AttemptResults({
      host,
      time,
      bodies,
      waits,
      commits,
      progress,
      isOver: () => end.end !== undefined,
      arrive: (deliver) => listener.arrive(deliver),
      supersede: () => listener.superseded(),
      fail: (error) => listener.failed(error),
    });
  }
}
