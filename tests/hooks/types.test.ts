import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type Application,
  defineFragment,
  defineHook,
  type Fragment,
  type HookContext,
  type HookHandle,
  type TriggerOptions,
  type UnitOfWork,
} from "../../src/index.ts";

interface Mail {
  readonly to: string;
}

const hooks = {
  send: defineHook({ retries: { limit: 3 } }, async (mail: Mail, hook) => `${mail.to} ${hook.attempts}`),
  ping: defineHook(() => {}),
  note: defineHook((text?: string) => text),
  count: defineHook(
    { input: z.object({ amount: z.coerce.number<string>(), tag: z.string().default("none") }) },
    (counted) => {
      expectTypeOf(counted).toEqualTypeOf<{ amount: number; tag: string }>();
    },
  ),
};
type Hooks = typeof hooks;

/** Compiled, never run: the type checker is the test. */
function compile(_body: () => unknown): void {}

describe("the types of hooks", () => {
  test("give a handler its payload and its context", () => {
    defineHook((_: Mail, hook) => expectTypeOf(hook).toEqualTypeOf<HookContext>());
    expectTypeOf<HookContext["signal"]>().toEqualTypeOf<AbortSignal>();
    expectTypeOf<HookContext["lastAttemptAt"]>().toEqualTypeOf<Date | null>();
    expect(hooks.send.kind).toBe("hook");
  });

  test("know the names and payloads at a trigger in a unit of work", () => {
    compile((uow = {} as UnitOfWork<Hooks>) => {
      uow.triggerHook("send", { to: "ada" });
      uow.triggerHook(
        "send",
        { to: "ada" },
        { key: "k", id: "1", processAt: new Date(), retries: { delay: "2 seconds" } },
      );
      expectTypeOf(uow.triggerHook("ping")).toEqualTypeOf<void>();
      // @ts-expect-error there is no such hook
      uow.triggerHook("sent", { to: "ada" });
      // @ts-expect-error the payload is missing
      uow.triggerHook("send");
      // @ts-expect-error the payload is another
      uow.triggerHook("send", { from: "ada" });
      // @ts-expect-error the payload is another
      uow.triggerHook("send", "ada");
      // @ts-expect-error a trigger has no such option
      uow.triggerHook("send", { to: "ada" }, { delay: 5 });
      // @ts-expect-error a date isn't an option
      uow.triggerHook("send", { to: "ada" }, new Date());
      // @ts-expect-error not a unit of time
      uow.triggerHook("send", { to: "ada" }, { retries: { delay: "2 moons" } });
    });
  });

  test("let a payload be left out where the hook takes none, or may do without", () => {
    compile((uow = {} as UnitOfWork<Hooks>) => {
      uow.triggerHook("ping");
      uow.triggerHook("ping", undefined, { key: "k" });
      uow.triggerHook("note");
      uow.triggerHook("note", "text");
      // @ts-expect-error a note is a text
      uow.triggerHook("note", 5);
    });
  });

  test("take the schema's input at the trigger, and give its output to the handler", () => {
    compile((uow = {} as UnitOfWork<Hooks>) => {
      uow.triggerHook("count", { amount: "5" });
      uow.triggerHook("count", { amount: "5", tag: "blue" });
      // @ts-expect-error the schema takes a text
      uow.triggerHook("count", { amount: 5 });
    });
    compile((app = {} as Application<Hooks>) => {
      expectTypeOf(app.hooks.count).toEqualTypeOf<HookHandle<{ amount: string; tag?: string | undefined }>>();
    });
  });

  test("are the same for triggers of their own", () => {
    compile(async (app = {} as Application<Hooks>) => {
      expectTypeOf(app.hooks.send.trigger).parameters.toEqualTypeOf<[payload: Mail, options?: TriggerOptions]>();
      expectTypeOf(await app.hooks.ping.trigger()).toEqualTypeOf<{ readonly id: string }>();
      expectTypeOf<keyof typeof app.hooks>().toEqualTypeOf<"send" | "ping" | "note" | "count">();
      // @ts-expect-error there is no such hook
      app.hooks.sent.trigger({ to: "ada" });
      // @ts-expect-error the payload is missing
      app.hooks.send.trigger();
    });
  });

  test("go from the payload to the keys of limits", () => {
    compile(() => {
      defineHook({ concurrency: { limit: 1, key: (mail: Mail) => mail.to } }, (mail: Mail) => mail.to);
      defineHook({ rateLimit: { limit: 1, period: "1 minute", key: (mail: Mail) => mail.to } }, (mail) => mail.to);
      // @ts-expect-error the key is made from the payload
      defineHook({ concurrency: { limit: 1, key: (mail: { id: number }) => `${mail.id}` } }, (mail: Mail) => mail.to);
      // @ts-expect-error a key is a text
      defineHook({ concurrency: { limit: 1, key: () => 5 } }, (mail: Mail) => mail.to);
    });
  });

  test("go from a fragment's definition to its services", () => {
    const definition = defineFragment<{ from: string }>("mail")
      .provideHooks(({ config, defineHook }) => {
        expectTypeOf(config).toEqualTypeOf<{ from: string }>();
        return { send: defineHook((mail: Mail) => mail.to) };
      })
      .provideServices(({ config, unitOfWork }) => ({
        send: (to: string) =>
          unitOfWork(async (uow) => {
            uow.triggerHook("send", { to });
            // @ts-expect-error there is no such hook
            compile(() => uow.triggerHook("sent", { to }));
            const rows = await uow.sql<{ id: number }>`select 1 as id`;
            expectTypeOf(rows).toEqualTypeOf<{ id: number }[]>();
            return `${config.from} ${to}`;
          }),
      }))
      .build();

    type Services = typeof definition extends { services: (context: never) => infer Result } ? Result : never;
    expectTypeOf<Services["send"]>().toEqualTypeOf<(to: string) => Promise<string>>();
    compile((fragment = {} as Fragment<{ send: Hooks["send"] }, Services>) => {
      // @ts-expect-error a number isn't an address
      fragment.services.send(5);
    });
  });
});
