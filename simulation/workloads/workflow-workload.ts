import { type InstanceAccount, runOf } from "../books/instance-account.ts";
import type { Behaviour } from "../books/trigger-record.ts";
import type { Params } from "../checks/instance-records.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { PROGRAM_NAMES, type ProgramName } from "../names.ts";
import type { Profile } from "../profile.ts";
import type { SeededRandomness } from "../random.ts";
import { awaitResult, type CreateCall, createInstance, operate, purge, sendEvent } from "./instance-calls.ts";
import { restartFromStep, retryFailedStep } from "./restart-calls.ts";
import { operateSchedule, SCHEDULE_OPERATIONS } from "./schedule-calls.ts";

const ACTIONS = {
  create: 10,
  burst: 3,
  ownId: 3,
  event: 12,
  ownEvent: 4,
  result: 4,
  status: 1,
  pause: 4,
  resume: 4,
  terminate: 1,
  rollBack: 2,
  restartFrom: 1,
  retryFailed: 2,
  restart: 2,
  delete: 1,
  schedule: 5,
  purge: 2,
};

const BEHAVIOURS: Partial<Record<Behaviour, number>> = {
  succeed: 12,
  work: 12,
  effect: 3,
  throw: 4,
  refuse: 1,
  hang: 2,
  ignore: 2,
  kill: 1,
  "effect-and-kill": 1,
};

/** What the application does with workflows: each call is made in some process, entered into the ledger, and its answer too. */
export class WorkflowWorkload {
  readonly #actions: typeof ACTIONS;
  readonly #behaviours: typeof BEHAVIOURS;
  readonly #programs: Record<ProgramName, number>;
  /** How often failed instances are restarted when the faults have stopped. */
  #overhauls = 3;

  constructor(random: SeededRandomness, { scheduled, programs: only }: Profile) {
    this.#actions = random.emphasize({ ...ACTIONS, schedule: scheduled ? ACTIONS.schedule : 0 });
    this.#behaviours = random.emphasize(BEHAVIOURS as Record<Behaviour, number>);
    const programs = Object.fromEntries((only ?? PROGRAM_NAMES).map((name) => [name, name === "fatal" ? 0.5 : 1]));
    this.#programs = random.emphasize(programs as Record<ProgramName, number>);
  }

  /** Does something that an application or an operator would do, in this process. Never rejects. */
  act(process: SimulatedProcess): void {
    const { random } = process.surroundings.world;
    const action = random.weighted(this.#actions);
    switch (action) {
      case "create":
        return void this.#create(process, {});
      case "burst":
        for (let count = random.integer(2, 5); count > 0; count--) void this.#create(process, {});
        return;
      case "purge":
        return void purge(process);
      case "schedule":
        return void operateSchedule(process, random.pick(SCHEDULE_OPERATIONS));
      case "ownId":
        return void this.#create(process, {
          id: `own-${random.integer(1, 3)}`,
          onConflict: random.pick(["error", "return"]),
        });
    }
    const account = pickInstance(process, action === "restart" ? 0.5 : 0.15);
    if (account === undefined) return void this.#create(process, {});
    switch (action) {
      case "event":
        for (let count = random.pick([1, 1, 1, 3]); count > 0; count--) void sendEvent(process, account, {});
        return;
      case "ownEvent":
        return void sendEvent(process, account, { id: `event-${random.integer(1, 3)}` });
      case "result":
        return void awaitResult(process, account);
      case "status":
        return void operate(process, account, "status");
      case "restartFrom":
        return void restartFromStep(process, pickBegun(process) ?? account);
      case "retryFailed":
        return void retryFailedStep(process, pickErrored(process) ?? account);
      default:
        return void operate(process, account, action);
    }
  }

  async #create(process: SimulatedProcess, options: Pick<CreateCall, "id" | "onConflict">): Promise<void> {
    const { world, profile } = process.surroundings;
    const name = world.random.weighted(this.#programs);
    const labels = world.random.chance(0.3)
      ? { labels: { tenant: world.random.pick(["one", "two"]), kind: name } }
      : {};
    const { retentionMs } = profile;
    const retention =
      retentionMs !== null && world.random.chance(0.5) ? { retention: { successRetention: retentionMs } } : {};
    await createInstance(process, name, this.#params(process), { ...options, ...labels, ...retention });
  }

  #params({ surroundings }: SimulatedProcess): Omit<Params, "n"> {
    const { random } = surroundings.world;
    const plan = () => {
      if (random.chance(0.02)) return ["kill" as const]; // poison
      const behaviours = Array.from({ length: random.integer(1, 2) }, () =>
        random.weighted(this.#behaviours as Record<Behaviour, number>),
      );
      return random.chance(0.9) ? [...behaviours, random.pick<Behaviour>(["succeed", "work"])] : behaviours;
    };
    return {
      plans: Array.from({ length: random.integer(1, 4) }, plan),
      short: random.integer(1, 4000),
      long: random.integer(6000, 90_000),
    };
  }

  /** An operator restarts failed instances, a few times. */
  startOver(process: SimulatedProcess | undefined): void {
    if (process === undefined) return;
    const { world, instances } = process.surroundings;
    for (const account of instances.accounts.values()) {
      if (account.state !== "errored" || this.#overhauls === 0 || !world.random.chance(0.2)) continue;
      this.#overhauls--;
      void world.random.pick([restartFromStep, retryFailedStep])(process, account);
    }
  }
}

/** One that has steps from which it can be restarted. */
function pickBegun({ surroundings }: SimulatedProcess): InstanceAccount | undefined {
  const { world, instances } = surroundings;
  const begun = [...instances.accounts.values()].filter((account) => runOf(account).journal.length > 1);
  return begun.length === 0 ? undefined : world.random.pick(begun);
}

function pickErrored({ surroundings }: SimulatedProcess): InstanceAccount | undefined {
  const { world, instances } = surroundings;
  const errored = [...instances.accounts.values()].filter(({ state }) => state === "errored");
  return errored.length === 0 ? undefined : world.random.pick(errored);
}

/** Mostly one that is alive. */
function pickInstance({ surroundings }: SimulatedProcess, anyShare: number): InstanceAccount | undefined {
  const { world, instances } = surroundings;
  const any = world.random.chance(anyShare);
  const accounts = [...instances.accounts.values()].filter(({ state }) => any || state === "live");
  return accounts.length === 0 ? undefined : world.random.pick(accounts);
}
