import type { InstanceLease } from "../../store/instances/instance-records.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { type ChildResult, type ResultCall, toChildResult } from "./steps/result-call.ts";

/** A wait for an instance that had ended before. */
interface EndedWait {
  readonly call: ResultCall;
  readonly result: ChildResult;
}

/** The waits of a run for other instances, until those know of them. */
export class ChildWaits {
  /** In the order of calling. Created with the first: most runs wait for no instance. */
  #unregistered: Set<ResultCall> | undefined;
  #ended: EndedWait[] = [];
  #registering = false;

  /** Whether instances must be told that this run waits for their ends. */
  get mustRegister(): boolean {
    return this.#unregistered !== undefined && this.#unregistered.size > 0;
  }

  get empty(): boolean {
    return this.#ended.length === 0;
  }

  add(call: ResultCall): void {
    if (call.registered) return;
    this.#unregistered ??= new Set();
    this.#unregistered.add(call);
  }

  /** The next wait whose instance had ended before it was registered. */
  takeEnded(): EndedWait | undefined {
    return this.#ended.length === 0 ? undefined : this.#ended.shift();
  }

  /** Makes the instances tell their ends to this run. `onDone` isn't called if that is under way already. */
  async register(host: ExecutionHost, { ref, run }: InstanceLease, onDone: () => void): Promise<void> {
    if (this.#registering) return;
    this.#registering = true;
    try {
      const calls = [...(this.#unregistered ?? [])];
      const asked = calls.map(({ child, eventType }) =>
        host.awaitEnd({ instance: child, waiter: { ref, run, type: eventType } }),
      );
      for (const [index, answer] of (await Promise.all(asked)).entries()) {
        const call = calls[index] as ResultCall;
        if (!this.#unregistered?.delete(call)) continue;
        call.registered = answer.result === "waiting";
        if (answer.result === "waiting") continue;
        this.#ended.push({ call, result: toChildResult(call, answer.result === "ended" ? answer.end : null) });
      }
    } finally {
      this.#registering = false;
    }
    onDone();
  }

  /** It isn't waited for any more. */
  drop(call: ResultCall): void {
    this.#unregistered?.delete(call);
    this.#ended = this.#ended.filter((ended) => ended.call !== call);
  }

  clear(): void {
    this.#unregistered?.clear();
    this.#ended = [];
  }
}
