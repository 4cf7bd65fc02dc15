import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import type { InstanceChange, InstanceName, RestartRequest } from "../../src/store/instances/instance-records.ts";
import type { World } from "../world.ts";
import { copyRun, type InstanceAccount, runOf, statusOf } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

export const LIFECYCLE_OPERATIONS = ["pause", "resume", "terminate", "rollBack", "restart", "delete"] as const;
export type LifecycleOperation = (typeof LIFECYCLE_OPERATIONS)[number];

/** What a restart asks for, and the hook that tells of an end. */
type ChangeDetails = Partial<Pick<RestartRequest, "kept" | "statuses">> & { readonly hook?: HookInsert };

/** What operators do to instances: allowed in some states only, with immediate effect. */
export class LifecycleBook {
  readonly #world: World;
  readonly #book: InstanceBook;

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  changed(
    operation: LifecycleOperation,
    name: InstanceName,
    { changed, instance, woken }: InstanceChange,
    { kept, statuses = null, hook }: ChangeDetails = {},
  ): void {
    const account = this.#book.find(name);
    if ((account?.ref ?? null) !== (instance?.ref ?? null)) {
      this.#violate(
        "nothing accepted is lost",
        `${operation} of ${name.id} found ${instance?.ref}, not ${account?.ref}`,
      );
      return;
    }
    if (account === undefined) return;
    const wanted = statuses === null || statuses.some((status) => status === statusOf(account));
    const expected = wanted && allows(account, operation) && (kept === undefined || kept.run === account.run);
    if (changed !== expected) {
      const { ref, state, paused } = account;
      const was = `${state}${paused ? ", paused" : ""}`;
      this.#violate(
        "statuses allow what they allow",
        `${operation} of ${ref}, ${was}: ${changed ? "done" : "refused"}`,
      );
    }
    if (!changed) return;
    this.#book.touched.add(account.ref);
    this.#apply(account, operation, kept);
    if (account.state !== "live") this.#book.waiters.ended(account, woken);
    if (account.state === "terminated") this.#book.endings.ended(account, { ending: "terminated", value: null }, hook);
  }

  #apply(account: InstanceAccount, operation: LifecycleOperation, kept: RestartRequest["kept"]): void {
    const { now } = this.#world;
    switch (operation) {
      case "pause":
        account.paused = true;
        if (!account.held) account.availableAt = null;
        return;
      case "resume":
        account.paused = false;
        account.toldOfPause = false;
        account.wakes++;
        if (!account.held) account.availableAt = now;
        return;
      case "terminate":
        return this.#terminate(account);
      case "rollBack":
        if (!account.started && runOf(account).journal.length === 0) return this.#terminate(account);
        account.rollingBack = "terminated";
        account.disowned = account.held ? account.lock : null;
        account.wakes++;
        account.recoveries = 0;
        this.#takeAway(account);
        account.availableAt = now;
        return;
      case "restart":
        account.state = "live";
        account.wakes++;
        account.rollingBack = null;
        account.error = null;
        account.runs.set(account.run + 1, copyRun(runOf(account), kept));
        account.run++;
        account.recoveries = 0;
        account.losses = 0;
        account.started = false;
        account.releases = 0;
        account.disowned = account.held ? account.lock : null;
        this.#takeAway(account);
        account.availableAt = now;
        return;
      case "delete":
        account.state = "gone";
        return this.#takeAway(account);
    }
  }

  #terminate(account: InstanceAccount): void {
    account.state = "terminated";
    account.rollingBack = null;
    account.wakes++;
    account.finishedAt = this.#world.now;
    this.#takeAway(account);
  }

  #takeAway(account: InstanceAccount): void {
    account.held = false;
    account.lock = null;
    account.availableAt = null;
    account.paused = false;
    account.toldOfPause = false;
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

function allows({ state, paused, rollingBack }: InstanceAccount, operation: LifecycleOperation): boolean {
  if (operation === "restart" || operation === "delete") return true;
  if (operation === "rollBack" && rollingBack !== null) return false;
  return state === "live" && (operation !== "resume" || paused);
}
