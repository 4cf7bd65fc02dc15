import type { InstanceChange, InstanceName } from "../src/store/instance-records.ts";
import { type InstanceAccount, newRun } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";
import type { World } from "./world.ts";

export const LIFECYCLE_OPERATIONS = ["pause", "resume", "terminate", "restart", "delete"] as const;
export type LifecycleOperation = (typeof LIFECYCLE_OPERATIONS)[number];

/** What people do to instances: allowed in some states only, and done at once. */
export class LifecycleBook {
  readonly #world: World;
  readonly #book: InstanceBook;

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  changed(operation: LifecycleOperation, name: InstanceName, { changed, instance }: InstanceChange): void {
    const account = this.#book.find(name);
    if ((account?.ref ?? null) !== (instance?.ref ?? null)) {
      this.#violate(
        "nothing accepted is lost",
        `${operation} of ${name.id} found ${instance?.ref}, not ${account?.ref}`,
      );
      return;
    }
    if (account === undefined) return;
    if (changed !== allows(account, operation)) {
      const { ref, state, paused } = account;
      const was = `${state}${paused ? ", paused" : ""}`;
      this.#violate(
        "statuses allow what they allow",
        `${operation} of ${ref}, ${was}: ${changed ? "done" : "refused"}`,
      );
    }
    if (!changed) return;
    this.#book.touched.add(account.ref);
    this.#apply(account, operation);
  }

  #apply(account: InstanceAccount, operation: LifecycleOperation): void {
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
        account.state = "terminated";
        account.wakes++;
        account.finishedAt = now;
        return this.#takeAway(account);
      case "restart":
        account.state = "live";
        account.wakes++;
        account.run++;
        account.runs.set(account.run, newRun());
        account.recoveries = 0;
        account.losses = 0;
        account.started = false;
        account.releases = 0;
        this.#takeAway(account);
        account.availableAt = now;
        return;
      case "delete":
        account.state = "gone";
        return this.#takeAway(account);
    }
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

function allows({ state, paused }: InstanceAccount, operation: LifecycleOperation): boolean {
  if (operation === "restart" || operation === "delete") return true;
  return state === "live" && (operation !== "resume" || paused);
}
