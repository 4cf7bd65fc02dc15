import type { Wakeups } from "../../src/store/engine.ts";
import type { Lane, World } from "../world.ts";
import type { Faults } from "./faults.ts";

type Listener = (namespaces: readonly string[] | null) => void;

/** Announcements between processes: they come late, twice or not at all. */
export class WakeupNetwork {
  readonly #world: World;
  readonly #faults: Faults;
  readonly #members = new Set<SimulatedWakeups>();

  constructor(world: World, faults: Faults) {
    this.#world = world;
    this.#faults = faults;
  }

  join(lane: Lane, connected: boolean): SimulatedWakeups {
    const member = new SimulatedWakeups(lane, connected, (namespace) => this.#broadcast(member, namespace));
    this.#members.add(member);
    return member;
  }

  #broadcast(sender: SimulatedWakeups, namespace: string): void {
    for (const member of this.#members) {
      if (member === sender || member.lane.closed || !member.connected) continue;
      const copies = this.#world.random.chance(this.#faults.rate * 3) ? this.#world.random.pick([0, 0, 2]) : 1;
      for (let copy = 0; copy < copies; copy++) {
        this.#world.schedule(member.lane, this.#faults.latency(), () => member.deliver([namespace]));
      }
    }
  }
}

export class SimulatedWakeups implements Wakeups {
  readonly lane: Lane;
  readonly connected: boolean;
  readonly #announce: (namespace: string) => void;
  readonly #listeners = new Set<Listener>();

  constructor(lane: Lane, connected: boolean, announce: (namespace: string) => void) {
    this.lane = lane;
    this.connected = connected;
    this.#announce = announce;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announce(namespace: string): void {
    if (!this.lane.closed) this.#announce(namespace);
  }

  deliver(namespaces: readonly string[] | null): void {
    for (const listener of this.#listeners) listener(namespaces);
  }
}
