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

test("a rejected promise that no caller awaits doesn't end the process", async () => {
  waitUntil(Promise.reject(new Error("ownerless")));
  await new Promise((resolve) => setImmediate(resolve));
});
