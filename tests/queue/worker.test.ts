import { describe, expect, test } from "vitest";
import type { Work, WorkClaim, WorkSource } from "../../src/queue/work.ts";
import { Worker } from "../../src/queue/worker.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ControlledClock } from "../support/controlled-clock.ts";
import { eventually } from "../support/eventually.ts";

/** A piece of work that runs until it is told to end. */
class GatedWork implements Work {
  readonly recovered: boolean = false;
  readonly description = "gated work";
  state: "claimed" | "running" | "ended" | "released" = "claimed";
  end: () => void = () => {};
  readonly #settles: boolean;

  constructor(settles: boolean) {
    this.#settles = settles;
  }

  async execute(onEnd: () => void): Promise<null> {
    this.state = "running";
    await new Promise<void>((resolve) => {
      this.end = resolve;
    });
    this.state = "ended";
    onEnd();
    if (!this.#settles) await new Promise(() => {});
    return null;
  }

  abandon(): void {}

  async release(): Promise<void> {
    this.state = "released";
  }
}

/** Gives as much work as it is asked for, after a time that the test decides. */
class PlentySource implements WorkSource {
  readonly kind = "hook";
  readonly claims: WorkClaim[] = [];
  readonly given: GatedWork[] = [];
  readonly #clock: ControlledClock;
  claimMs = 0;
  /** Whether outcomes are ever written. */
  settles = true;

  constructor(clock: ControlledClock) {
    this.#clock = clock;
  }

  async claim(request: WorkClaim): Promise<Work[]> {
    this.claims.push(request);
    this.#clock.advance(this.claimMs);
    const work = Array.from({ length: request.limit }, () => new GatedWork(this.settles));
    this.given.push(...work);
    return work;
  }

  nextWake = async () => null;
  renew = async (work: readonly Work[]) => new Set(work);
  giveBack = async () => {};
  expireLeases = async () => 0;
  purge = async () => false;

  count(state: GatedWork["state"]): number {
    return this.given.filter((work) => work.state === state).length;
  }

  endRunning(): void {
    for (const work of this.given) if (work.state === "running") work.end();
  }
}

function createWorker(concurrency: number) {
  const clock = new ControlledClock();
  const source = new PlentySource(clock);
  const ignore = () => {};
  const worker = new Worker({
    clock,
    concurrency,
    leaseMs: 30_000,
    nextToken: () => "token",
    onRoom: ignore,
    onTakeOver: ignore,
    onFailure: ignore,
    onError: (error) => {
      throw error;
    },
  });
  return { clock, source, worker };
}

/** A worker whose handlers were fast so far, so that its next claim asks for more than it has places. */
async function createFastWorker() {
  const created = createWorker(4);
  const { source, worker } = created;
  source.claimMs = 20;
  for (let round = 0; round < 3; round++) {
    await worker.fill(source);
    while (source.count("running") + source.count("claimed") > 0) {
      source.endRunning();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return created;
}

describe("a worker", () => {
  test("claims as much as it has places free, and no more, while its handlers take their time", async () => {
    const { clock, source, worker } = createWorker(4);
    source.claimMs = 20;
    await worker.fill(source);
    clock.advance(1000);
    source.given[0]?.end();
    source.given[1]?.end();
    await eventually(() => expect(worker.roomFor(source)).toBe(2));
    await worker.fill(source);
    expect(source.claims.map(({ limit }) => limit)).toEqual([4, 2]);
  });

  test("claims ahead while its handlers are much faster than the database, and never runs more than it has places", async () => {
    const { source, worker } = await createFastWorker();
    await worker.fill(source);
    expect(source.claims.at(-1)?.limit).toBeGreaterThan(4);
    expect(source.count("running")).toBe(4);
    expect(source.count("claimed")).toBe((source.claims.at(-1)?.limit ?? 0) - 4);
    source.endRunning();
    await eventually(() => expect(source.count("running")).toBe(4));
  });

  test("gives back what it claimed ahead when its handlers have become slow, and is careful from then on", async () => {
    const { clock, source, worker } = await createFastWorker();
    await worker.fill(source);
    clock.advance(1000);
    await eventually(() => expect(source.count("claimed")).toBe(0));
    expect(source.count("running")).toBe(4);
    expect(source.count("released")).toBeGreaterThan(0);
    source.endRunning();
    await eventually(() => expect(worker.held).toBe(0));
    expect(worker.wantedFrom(source)).toBe(4);
  });

  test("claims no more, ahead or not, while outcomes can't be written as fast as handlers end", async () => {
    const { source, worker } = await createFastWorker();
    source.settles = false;
    for (let claims = 0; claims < 100 && worker.wantedFrom(source) > 0; claims++) {
      await worker.fill(source);
      while (source.count("running") + source.count("claimed") > 0) {
        source.endRunning();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    expect(worker.wantedFrom(source)).toBe(0);
    expect(worker.held).toBeGreaterThan(1000);
    expect(worker.held).toBeLessThan(1100);
  });

  test("gives back what it claimed ahead at once when it stops", async () => {
    const { source, worker } = await createFastWorker();
    await worker.fill(source);
    const stopped = worker.stop(1000);
    await eventually(() => expect(source.count("claimed")).toBe(0));
    expect(source.count("released")).toBeGreaterThan(0);
    source.endRunning();
    await stopped;
    expect(worker.held).toBe(0);
  });

  test("starts work that it claimed without a slot as soon as another claim frees its slots", async () => {
    const { clock, source, worker } = createWorker(1);
    const other = new PlentySource(clock);
    const [answer, otherAnswer] = [new Gate(), new Gate()];
    const late = new GatedWork(true);
    source.claim = async () => {
      await answer.opened;
      return [late];
    };
    other.claim = async () => {
      await otherAnswer.opened;
      return [];
    };
    const claim = worker.fill(source);
    clock.advance(250); // the slot is freed, because the answer is late
    const otherClaim = worker.fill(other);
    answer.open();
    await claim;
    expect(late.state).toBe("claimed");
    otherAnswer.open();
    await otherClaim;
    expect(late.state).toBe("running");
    late.end();
    await eventually(() => expect(worker.held).toBe(0));
  });

  describe("while a claim isn't answered", () => {
    const instanceOf = (work: Partial<GatedWork>) => Object.assign(new GatedWork(true), work);

    /** A worker with two slots, both reserved by a claim that the test answers. */
    async function claimSlowly(traits: Partial<WorkSource> = {}) {
      const created = createWorker(2);
      const answer = new Gate();
      let rows: readonly GatedWork[] = [];
      created.source.claim = async () => {
        await answer.opened;
        return [...rows];
      };
      Object.assign(created.source, traits);
      const claim = created.worker.fill(created.source);
      const respond = async (...given: GatedWork[]) => {
        rows = given;
        answer.open();
        await claim;
      };
      return { ...created, respond };
    }

    test("lets new work be born claimed in the slots that the claim has reserved, and in no more", async () => {
      const { source, worker, respond } = await claimSlowly();
      const born = [new GatedWork(true), new GatedWork(true)];
      for (const work of born) worker.reserve(source)?.start(work);
      expect(born.map(({ state }) => state)).toEqual(["running", "running"]);
      expect(worker.reserve(source)).toBeNull();
      await respond();
      expect(worker.held).toBe(2);
      for (const work of born) work.end();
      await eventually(() => expect(worker.held).toBe(0));
      expect(worker.roomFor(source)).toBe(2);
    });

    test("starts what the claim brings beyond its slots when work ends, before anything else is born claimed", async () => {
      const { source, worker, respond } = await claimSlowly();
      const born = new GatedWork(true);
      worker.reserve(source)?.start(born);
      const [first, second] = [new GatedWork(true), new GatedWork(true)];
      await respond(first, second);
      expect([first.state, second.state]).toEqual(["running", "claimed"]);
      expect(worker.reserve(source)).toBeNull();
      born.end();
      await eventually(() => expect(second.state).toBe("running"));
      expect(worker.reserve(source)).toBeNull();
      for (const work of [first, second]) work.end();
      await eventually(() => expect(worker.held).toBe(0));
    });

    test("releases what the claim brings beyond its slots if no work ends within a second", async () => {
      const { clock, source, worker, respond } = await claimSlowly();
      const born = [new GatedWork(true), new GatedWork(true)];
      for (const work of born) worker.reserve(source)?.start(work);
      const claimed = new GatedWork(true);
      await respond(claimed);
      clock.advance(1000);
      await eventually(() => expect(claimed.state).toBe("released"));
      for (const work of born) work.end();
      await eventually(() => expect(worker.held).toBe(0));
    });

    test("keeps what is left of its slots for work of lost owners", async () => {
      const { source, worker, respond } = await claimSlowly();
      const born = new GatedWork(true);
      worker.reserve(source)?.start(born);
      const [fresh, lost] = [new GatedWork(true), instanceOf({ recovered: true })];
      await respond(fresh, lost);
      expect(fresh.state).toBe("claimed");
      born.end();
      for (const work of [fresh, lost]) {
        await eventually(() => expect(work.state).toBe("running"));
        work.end();
      }
      await eventually(() => expect(worker.held).toBe(0));
    });

    test("keeps the slots of a claim whose rows must start at once", async () => {
      const { source, worker, respond } = await claimSlowly({ needsRoom: true });
      expect(worker.reserve(source)).toBeNull();
      await respond();
      expect(worker.reserve(source)).not.toBeNull();
    });

    test("stops with what was born claimed, and releases what the claim brings", async () => {
      const { source, worker, respond } = await claimSlowly();
      const born = new GatedWork(true);
      worker.reserve(source)?.start(born);
      const stopped = worker.stop(1000);
      expect(worker.reserve(source)).toBeNull();
      const claimed = new GatedWork(true);
      await respond(claimed);
      expect(claimed.state).toBe("released");
      born.end();
      await stopped;
      expect(worker.held).toBe(0);
    });
  });
});
