import { describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/index.ts";
import { defineWorkflow, EventTimeoutError } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

const SECRET = "a secret of more than thirty-two characters";
const tokens = { secret: SECRET, url: "https://example.org/perdure/" };

describe.each(ENGINES)("tokens on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Gives its tokens out in a step. */
  function ask(given: string[], options: { readonly signal?: boolean } = {}) {
    return defineWorkflow({ name: "ask" }, async (_event, step) => {
      const stop = new AbortController();
      const signal = options.signal ? { signal: stop.signal } : {};
      const token = await step.createToken<{ amount: number }>("payment", { timeout: "1 hour", ...signal });
      await step.do("give out", () => void given.push(token.value));
      given.push(token.value, token.url ?? "");
      if (options.signal) {
        await step.waitForEvent("stop", { type: "stop" });
        stop.abort();
      }
      const paid = await token.result().catch((error: Error) => error);
      await step.waitForEvent("end", { type: "end" });
      if (!(paid instanceof Error)) return paid.amount;
      return paid instanceof EventTimeoutError ? "timeout" : paid.name;
    });
  }

  async function begin(options: { readonly signal?: boolean } = {}) {
    const given: string[] = [];
    const process = subject.start({ ask: ask(given, options) }, { tokens });
    const instance = await process.workflows.ask.create({ id: "one" });
    await eventually(() => expect(given.length).toBeGreaterThan(2));
    await becomes(instance, "waiting");
    await comesToRest(process);
    return { given, process, instance, token: given[0] as string, complete: process.fragment.completeToken };
  }

  test("a token ends its wait with a payload, once", async () => {
    const { token, complete, instance, given } = await begin();
    expect(token).toMatch(/^[A-Za-z0-9_-]{40,}$/);
    expect(given[2]).toBe(`https://example.org/perdure/tokens/${token}`);
    const calls = await Promise.allSettled([complete(token, { amount: 12 }), complete(token, { amount: 13 })]);
    expect(calls.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const amount = calls[0]?.status === "fulfilled" ? 12 : 13;
    await eventually(async () =>
      expect((await instance.history()).entries.at(-1)).toMatchObject({ type: "waitForEvent", name: "end" }),
    );
    await expect(complete(token, { amount: 14 })).rejects.toMatchObject({ code: "token.used" });
    await instance.sendEvent({ type: "end" });

    await expect(instance.result()).resolves.toBe(amount);
    await expect(complete(token, { amount: 15 })).rejects.toMatchObject({ code: "token.used" });
  });

  test("a token is the same in a replay, and isn't stored", async () => {
    const { token, process, instance, given, complete } = await begin();
    await complete(token, { amount: 1 });
    await eventually(() => expect(given.length).toBeGreaterThan(3));
    expect(new Set(given.filter((one) => !one.startsWith("https")))).toEqual(new Set([token]));
    expect(JSON.stringify(await instance.history())).not.toContain(token);
    expect(JSON.stringify(process.logs)).not.toContain(token);
  });

  test.each([
    [
      "after its timeout",
      async ({ instance }: Awaited<ReturnType<typeof begin>>) => {
        await subject.clock.advanceAndSettle(3_600_000);
        await withTime(subject.clock, async () =>
          expect((await instance.history()).entries.some(({ kind }) => kind === "timedOut")).toBe(true),
        );
      },
    ],
    ["after its instance was terminated", ({ instance }) => instance.terminate()],
    ["after its instance was restarted", ({ instance }) => instance.restart()],
    ["after its instance was deleted", ({ instance }) => instance.delete()],
  ] as [string, (begun: Awaited<ReturnType<typeof begin>>) => Promise<void>][])(
    "a token is revoked %s",
    async (_, end) => {
      const begun = await begin();
      await end(begun);

      await expect(begun.complete(begun.token, { amount: 1 })).rejects.toMatchObject({ code: "token.revoked" });
    },
  );

  test("a token is revoked after its wait was abandoned", async () => {
    const { token, complete, instance } = await begin({ signal: true });
    await instance.sendEvent({ type: "stop" });
    await eventually(async () =>
      expect((await instance.history()).entries.some(({ kind }) => kind === "abandoned")).toBe(true),
    );
    await expect(complete(token)).rejects.toMatchObject({ code: "token.revoked" });
    await instance.sendEvent({ type: "end" });

    await expect(instance.result()).resolves.toBe("AbortError");
  });

  test("a token that ended its wait first wins the same race in every replay", async () => {
    const given: string[] = [];
    const winners: string[] = [];
    const racing = defineWorkflow({ name: "racing" }, async (_event, step) => {
      const paid = async () => {
        const token = await step.createToken("payment");
        await step.do("give out", () => void given.push(token.value));
        await token.result();
        return "paid";
      };
      const cancelled = async () => {
        await step.waitForEvent("cancelled", { type: "cancel" });
        return "cancelled";
      };
      const winner = await Promise.race([paid(), cancelled()]);
      winners.push(winner);
      await step.waitForEvent("end", { type: "end" });
      return winner;
    });
    const process = subject.start({ racing }, { tokens });
    const instance = await process.workflows.racing.create({ id: "one" });
    await becomes(instance, "waiting");
    await comesToRest(process);
    await process.fragment.completeToken(given[0] as string);
    await eventually(() => expect(winners).toEqual(["paid"]));
    await comesToRest(process);
    await instance.sendEvent({ type: "cancel" });
    await eventually(async () =>
      expect((await instance.history()).entries.filter(({ kind }) => kind === "received")).toHaveLength(2),
    );
    await comesToRest(process);
    await instance.sendEvent({ type: "end" });

    await expect(instance.result()).resolves.toBe("paid");
    expect(winners.length).toBeGreaterThan(1);
    expect(new Set(winners)).toEqual(new Set(["paid"]));
  });

  test("a token is revoked while its run is rolled back", async () => {
    const given: string[] = [];
    let undo = () => {};
    const undone = new Promise<void>((resolve) => {
      undo = resolve;
    });
    const failing = defineWorkflow({ name: "failing" }, async (_event, step) => {
      const token = await step.createToken("payment", { timeout: "1 hour" });
      await step.do("give out", () => void given.push(token.value), { rollback: () => undone });
      throw new Error("no");
    });
    const process = subject.start({ failing }, { tokens });
    const instance = await process.workflows.failing.create({ id: "one" });
    await becomes(instance, "rollingBack");
    const [token] = given as [string];
    await expect(process.fragment.completeToken(token)).rejects.toMatchObject({ code: "token.revoked" });
    undo();

    await expect(instance.result()).rejects.toMatchObject({ cause: { message: "no" } });
  });

  test.each(["", "short", "!".repeat(60), "A".repeat(120)])("%j isn't a token", async (token) => {
    const { complete } = await begin();

    await expect(complete(token)).rejects.toMatchObject({ code: "token.invalid" });
  });

  test("a token that a mail program has cut off isn't one, wherever it was cut", async () => {
    const { token, complete } = await begin();
    for (let missing = 1; missing <= 4; missing++) {
      await expect(complete(token.slice(0, -missing))).rejects.toMatchObject({ code: "token.invalid" });
    }
  });

  test("a token that was changed by a character, or made with another secret, isn't one", async () => {
    const { token, complete } = await begin();
    const changed = `${token.slice(0, 20)}${token[20] === "A" ? "B" : "A"}${token.slice(21)}`;
    await expect(complete(changed)).rejects.toMatchObject({ code: "token.invalid" });
    const other = subject.process({ ask: ask([]) }, { tokens: { secret: SECRET.toUpperCase() } });
    await expect(other.fragment.completeToken(token)).rejects.toMatchObject({ code: "token.invalid" });
    const rotated = subject.process({ ask: ask([]) }, { tokens: { secret: [SECRET.toUpperCase(), SECRET] } });
    await expect(rotated.fragment.completeToken(token, { amount: 3 })).resolves.toBeUndefined();
  });

  test("the holder of a token needs no other authorization over HTTP, and can do nothing else", async () => {
    const { token, process, instance } = await begin();
    const options = { basePath: "/perdure", authorize: () => false };
    const handler = createHttpHandler(process.fragment as never, options);
    const post = (path: string, body: unknown) =>
      handler(
        new Request(`https://example.org/perdure${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
    expect((await post("/workflows/ask/instances/one/events", { type: "end" })).status).toBe(403);
    const strict = createHttpHandler(process.fragment as never, { ...options, authorizeTokens: true });
    const request = new Request(`https://example.org/perdure/tokens/${token}`, { method: "POST" });
    expect((await strict(request)).status).toBe(403);
    expect((await post(`/tokens/${token}`, { payload: { amount: 7 } })).status).toBe(204);
    expect((await post(`/tokens/${token}`, { payload: { amount: 8 } })).status).toBe(409);
    expect((await post("/tokens/nonsense", {})).status).toBe(404);
    await instance.sendEvent({ type: "end" });

    await expect(instance.result()).resolves.toBe(7);
  });

  test("a request with an Idempotency-Key ends the wait once, and gets the same answer again", async () => {
    const { token, process, instance } = await begin();
    const handler = createHttpHandler(process.fragment as never, { authorize: () => false });
    const post = (given: string, key: string) =>
      handler(
        new Request(`https://example.org/tokens/${given}`, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": key },
          body: JSON.stringify({ payload: { amount: 7 } }),
        }),
      );
    expect((await post(token, "one")).status).toBe(204);
    expect((await post(token, "one")).status).toBe(204);
    for (let times = 0; times < 2; times++) expect((await post(token, "other")).status).toBe(409);
    expect((await post("A".repeat(60), "one")).status).toBe(404);
    await instance.sendEvent({ type: "end" });

    await expect(instance.result()).resolves.toBe(7);
  });

  test("tokens need a secret", async () => {
    const process = subject.start({ ask: ask([]) });
    const instance = await process.workflows.ask.create();

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "token.no_secret" } });
    expect(() => subject.process({ ask: ask([]) }, { tokens: { secret: "short" } })).toThrow(/at least 32 characters/);
  });
});
