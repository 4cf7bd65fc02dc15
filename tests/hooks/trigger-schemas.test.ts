import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { ENGINES } from "../support/engines.ts";
import { recordCalls } from "./support/handlers.ts";
import { useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("triggers on $name", (engine) => {
  const fixture = useHooks(engine);

  describe("of a hook with a schema", () => {
    const Order = z.object({ id: z.string(), amount: z.coerce.number().positive() });

    test("store what comes out of the schema, and give it to the handler", async () => {
      const seen: unknown[] = [];
      const place = defineHook({ input: Order }, (order) => seen.push(order));
      const process = fixture.process({ place });
      const { id } = await process.hooks.place.trigger({ id: "1", amount: "12.50" });

      expect((await process.durableHooks.get(id))?.payload).toEqual({ id: "1", amount: 12.5 });
      await process.drain();
      expect(seen).toEqual([{ id: "1", amount: 12.5 }]);
    });

    test("throw at once when it refuses, and say what it refused", async () => {
      const place = defineHook({ input: Order }, () => {});
      const process = fixture.process({ place });
      let thrown: unknown;

      await process.unitOfWork(async (uow) => {
        try {
          uow.triggerHook("place", { id: "1", amount: "-1" });
        } catch (error) {
          thrown = error;
        }
      });

      expect(thrown).toMatchObject({ name: "InvalidInputError", code: "payload.invalid" });
      expect(String(thrown)).toMatch(/The payload of "place" didn't pass the schema\. amount: .*>0/);
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    test("roll back the transaction when they throw", async () => {
      const place = defineHook({ input: Order }, () => {});
      const process = fixture.process({ place });

      const failure = process.unitOfWork(async (uow) => {
        uow.triggerHook("place", { id: "1", amount: 1 });
        uow.triggerHook("place", { id: "2", amount: 0 });
      });

      await expect(failure).rejects.toMatchObject({ code: "payload.invalid" });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    test("reject, outside a transaction", async () => {
      const place = defineHook({ input: Order }, () => {});
      const process = fixture.process({ place });

      await expect(process.hooks.place.trigger({ id: "1", amount: 0 })).rejects.toMatchObject({
        code: "payload.invalid",
      });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });
  });

  describe("of a hook with an asynchronous schema", () => {
    const Known = z.string().refine(async (name) => name !== "eve", "is not known here");

    test("are written when it accepts", async () => {
      const seen: string[] = [];
      const greet = defineHook({ input: Known }, (name) => seen.push(name));
      const process = fixture.process({ greet });
      await process.unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));
      await process.drain();

      expect(seen).toEqual(["ada"]);
    });

    test("roll back the whole transaction when it refuses", async () => {
      const greet = defineHook({ input: Known }, () => {});
      const plain = recordCalls<string>();
      const process = fixture.process({ greet, plain: plain.definition });

      const failure = process.unitOfWork(async (uow) => {
        uow.triggerHook("plain", "before");
        uow.triggerHook("greet", "eve");
        uow.triggerHook("plain", "after");
        return "done";
      });

      await expect(failure).rejects.toMatchObject({
        code: "payload.invalid",
        message: expect.stringContaining("is not known here"),
      });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    test("leave no rejection behind when the transaction fails for another reason", async () => {
      const greet = defineHook({ input: Known }, () => {});
      const process = fixture.process({ greet });

      const failure = process.unitOfWork(async (uow) => {
        uow.triggerHook("greet", "eve");
        throw new Error("changed my mind");
      });

      await expect(failure).rejects.toThrow("changed my mind"); // vitest fails on unhandled rejections
    });
  });
});
