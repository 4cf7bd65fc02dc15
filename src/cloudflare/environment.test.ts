import { expect, test, vi } from "vitest";
import { createWorkerFetch, env, setEnv, type WorkerContext, waitUntil, withEnv } from "./index.ts";

test("the imported environment is what was set, or what the running code was given", async () => {
  setEnv({ NAME: "Ada", LEVEL: 1 });
  const inside = withEnv({ NAME: "Bob" }, async () => {
    await Promise.resolve();
    return { ...env };
  });

  expect(env.NAME).toBe("Ada");
  expect(Object.keys(env)).toEqual(["NAME", "LEVEL"]);
  expect("LEVEL" in env).toBe(true);
  expect(await inside).toEqual({ NAME: "Bob" });
  expect(() => Object.assign(env, { NAME: "Eve" })).toThrow(TypeError);
  expect(env.NAME).toBe("Ada");
});

test("a promise that is given to waitUntil and rejected is logged, and doesn't end the process", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const error = new Error("ownerless");
  waitUntil(Promise.reject(error));
  const worker = { fetch: (_request: Request, _env: object, context: WorkerContext) => answer(context) };
  const answer = (context: WorkerContext) => {
    context.waitUntil(Promise.reject(error));
    return new Response("fine");
  };
  await createWorkerFetch(worker, { env: {} })(new Request("http://localhost/"));
  await new Promise((resolve) => setImmediate(resolve));

  expect(logged.mock.calls).toEqual(Array(2).fill([expect.stringContaining("waitUntil was rejected"), { error }]));
  logged.mockRestore();
});
