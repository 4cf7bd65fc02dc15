import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { Cut, CuttingProxy } from "../tests/support/cutting-proxy.ts";
import { type Arena, PROCESS_ROLE } from "./arena.ts";
import type { ChaosProcess } from "./chaos-process.ts";
import { actionOf, describeCut, type Fault } from "./fault-schedule.ts";
import type { Fleet } from "./fleet.ts";
import type { Point } from "./settings.ts";

/** As over a bad mobile network: a claim or a load takes a while. */
const NARROW_BYTES_PER_SECOND = 50_000;
const PRODUCER_POINTS: readonly Point[] = ["after-trigger"];

/** Makes things go wrong, and right again. */
export class Faults {
  /** How often each has happened. */
  readonly counts = new Map<string, number>();
  readonly #arena: Arena;
  readonly #fleet: Fleet;
  readonly #note: (text: string) => void;
  #restarts: Promise<void> = Promise.resolve();
  #restoring: Promise<void> = Promise.resolve();

  constructor(arena: Arena, fleet: Fleet, note: (text: string) => void) {
    this.#arena = arena;
    this.#fleet = fleet;
    this.#note = note;
  }

  /**
   * Makes the fault happen. Resolves when it is over, or when it is armed: then it happens as soon as its statement is sent.
   */
  async strike(fault: Fault): Promise<void> {
    const { plan } = fault;
    const whom = await this.#perform(fault);
    if (whom === null || "text" in plan) return; // there was no process to hit, or it counts when it happens
    this.#count(plan.name);
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** Ends all faults. Connections that will never be answered are closed, as TCP keep-alive would do. */
  async calm(): Promise<void> {
    await this.#restarts;
    await this.#restoring;
    for (const proxy of this.#arena.proxies) {
      proxy.disarm();
      proxy.speakAgain();
      proxy.limitBandwidth(null);
      proxy.cutAll();
    }
    this.#fleet.calm();
    this.#note("calm");
  }

  async #perform(fault: Fault): Promise<unknown> {
    const { plan, forMs, shiftMs } = fault;
    switch (plan.name) {
      case "killed":
        return this.#on(fault, undefined, (one) => one.signal("SIGKILL"));
      case "asked to stop":
        return this.#on(fault, "works", (one) => {
          one.askedToStop = true;
          one.signal("SIGTERM");
        });
      case "clock shifted":
        return this.#on(fault, undefined, (one) => one.send({ do: "shift clock", milliseconds: shiftMs }));
      case "stopped past its lease":
        return this.#on(fault, "works", (one) => this.#freeze(one, forMs, () => one.signal("SIGSTOP")));
      case "killed at a point":
      case "stopped at a point": {
        const role = PRODUCER_POINTS.includes(plan.point) ? "produces" : "works";
        const action = actionOf(plan.name);
        const arm = (one: ChaosProcess) => one.send({ do: "arm", point: plan.point, action });
        return this.#on(fault, role, (one) =>
          action === "kill" ? arm(one) : this.#freeze(one, forMs, () => arm(one)),
        );
      }
      case "database restarted":
        return this.#restart(plan.mode, forMs);
      case "connections cut":
        return this.#through(fault, (proxy) => proxy.cutAll());
      case "cut at a statement":
        return this.#through(fault, (proxy) => this.#cutAt(proxy, plan.text, plan.lost));
      case "silent at a statement":
        return this.#through(fault, (proxy) => this.#cutAt(proxy, plan.text, "silence"));
      case "table locked":
        return this.#lock(plan.table, forMs);
      case "privilege missing":
        return this.#revoke(plan.table, forMs);
      case "connections silent":
        return this.#through(fault, async (proxy) => {
          proxy.fallSilent();
          await delay(forMs);
          proxy.speakAgain();
        });
      case "answers delayed":
        return this.#through(fault, async (proxy) => {
          proxy.holdAnswers();
          await delay(forMs);
          proxy.releaseAnswers();
        });
      case "connections narrow":
        return this.#through(fault, async (proxy) => {
          proxy.limitBandwidth(NARROW_BYTES_PER_SECOND);
          await delay(forMs);
          proxy.limitBandwidth(null);
        });
    }
  }

  async #on(
    { plan, victim, forMs }: Fault,
    role: "works" | "produces" | undefined,
    hit: (one: ChaosProcess) => unknown,
  ): Promise<ChaosProcess | null> {
    const candidates = this.#fleet.candidates(role);
    const one = candidates[Math.floor(victim * candidates.length)];
    if (one === undefined) return null;
    const where = "point" in plan ? ` ${plan.point}` : "";
    this.#note(`${one.settings.name} ${plan.name}${where}${forMs > 0 ? ` for ${forMs} ms` : ""}`);
    await hit(one);
    return one;
  }

  async #through(
    { plan, victim, forMs }: Fault,
    hit: (proxy: CuttingProxy) => unknown,
  ): Promise<CuttingProxy | undefined> {
    const { proxies } = this.#arena;
    const number = Math.floor(victim * proxies.length);
    const where = "text" in plan ? ` ${describeCut(plan.text)}` : "";
    const what = plan.name === "cut at a statement" ? `, the ${plan.lost} lost` : "";
    this.#note(`network ${number}: ${plan.name}${where}${what}${forMs > 0 ? ` for ${forMs} ms` : ""}`);
    const proxy = proxies[number] as CuttingProxy;
    await hit(proxy);
    return proxy;
  }

  #cutAt(proxy: CuttingProxy, text: string, cut: Cut): void {
    void proxy.cut(text, cut).then(() => {
      const happened = cut === "silence" ? "silent at" : `${cut} lost at`;
      this.#note(`network ${this.#arena.proxies.indexOf(proxy)}: ${happened} ${describeCut(text)}`);
      this.#count(`${happened} ${describeCut(text)}`);
    });
  }

  /** As a migration of the application or an administrator of the database would. */
  async #lock(table: string, forMs: number): Promise<unknown> {
    const client = new Client({ connectionString: this.#arena.database });
    client.on("error", () => {}); // the server may be restarted meanwhile
    try {
      await client.connect();
      this.#note(`the table ${table} is locked for ${forMs} ms`);
      await client.query("begin");
      await client.query(`lock table perdure.${table} in access exclusive mode`);
      await delay(forMs);
      await client.query("rollback");
      return table;
    } catch {
      return null;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** As an operator does by mistake and then repairs. It is repaired even if the server is restarted meanwhile. */
  async #revoke(table: string, forMs: number): Promise<unknown> {
    const revoked = await this.#ask(`revoke insert on perdure.${table} from ${PROCESS_ROLE}`);
    if (!revoked) return null;
    this.#note(`the processes may not insert into the table ${table} for ${forMs} ms`);
    this.#restoring = this.#restoring.then(async () => {
      await delay(forMs);
      while (!(await this.#ask(`grant insert on perdure.${table} to ${PROCESS_ROLE}`))) await delay(100);
    });
    await this.#restoring;
    return table;
  }

  /** Returns whether the server did it. */
  async #ask(text: string): Promise<boolean> {
    const client = new Client({ connectionString: this.#arena.database });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query(text);
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }

  async #freeze(one: ChaosProcess, forMs: number, begin: () => void): Promise<void> {
    one.frozen = true;
    begin();
    await delay(forMs);
    one.send({ do: "disarm" });
    one.signal("SIGCONT");
    one.frozen = false;
  }

  /** One after the other. */
  #restart(mode: "fast" | "immediate", forMs: number): Promise<unknown> {
    this.#restarts = this.#restarts.then(async () => {
      this.#note(`the database is stopped (${mode}) for ${forMs} ms`);
      await this.#arena.server?.shutDown(mode);
      await delay(forMs);
      await this.#arena.server?.startAgain();
      this.#note("the database is back");
    });
    return this.#restarts;
  }
}
