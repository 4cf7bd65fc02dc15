import { expect, test } from "vitest";
import { env, setEnv, waitUntil, withEnv } from "./index.ts";

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

test("a rejection of what nobody waits for ends nothing", async () => {
  waitUntil(Promise.reject(new Error("nobody's")));
  await new Promise((resolve) => setImmediate(resolve));
});
