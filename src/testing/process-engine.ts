import { AsyncLocalStorage } from "node:async_hooks";
import type { Engine, EngineTransaction, Wakeups } from "../store/engine.ts";
import { describeOperation, type OperationName } from "./describe-operation.ts";
import type { ProcessLife } from "./process-life.ts";

/** A description of the process's present write, for the observer of its commits. */
const operation = new AsyncLocalStorage<string>();

export function currentOperation(): string {
  return operation.getStore() ?? "the application's own transaction";
}

/** Parts of an engine that answer no requests of a database. */
const PASSED_ON = ["clock", "schemaMigrations"];

/** An engine whose answers don't reach a process that has died. */
export function mortalEngine(engine: Engine, life: ProcessLife): Engine {
  const transaction: Engine["transaction"] = (body, options) =>
    operation.run("unit of work", () =>
      life.reply(engine.transaction((inner) => body(mortal<EngineTransaction>(inner, life, "transaction")), options)),
    );
  const wakeups: Wakeups = { ...engine.wakeups, alone: true };
  return mortal(engine, life, "engine", { transaction, wakeups });
}

function mortal<Target extends object>(
  target: Target,
  life: ProcessLife,
  part: string,
  overrides: object = {},
): Target {
  return new Proxy(target, {
    get: (_target, property) => {
      if (Object.hasOwn(overrides, property)) return Reflect.get(overrides, property);
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value === "function") {
        return mortalMethod(target, { part, method: String(property) }, value as Method, life);
      }
      if (typeof value !== "object" || value === null || PASSED_ON.includes(String(property))) return value;
      return mortal(value, life, String(property));
    },
  });
}

type Method = (...parameters: unknown[]) => unknown;

function mortalMethod(target: object, name: OperationName, method: Method, life: ProcessLife): Method {
  return (...parameters) =>
    operation.run(describeOperation(name, parameters[0]), () => {
      const answer = method.apply(target, parameters);
      return answer instanceof Promise ? life.reply(answer) : answer;
    });
}
