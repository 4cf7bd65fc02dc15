import { describe, expect, test } from "vitest";
import {
  type Codec,
  CodecError,
  createSubjectDispatcher,
  defineHook,
  defineWorkflow,
  type WorkflowEvent,
} from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { useDispatcher } from "../subjects/support/use-dispatcher.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "../workflows/support/use-workflows.ts";
import { BACKWARDS } from "./support/keys.ts";
import { MINUTE, openWith } from "./support/unable.ts";

const SECRET = "https://vault.example/keys?token=hvs.SECRET";

const THROWN = [
  ["an error", () => new Error(SECRET)],
  ["a CodecError of its own", () => new CodecError("codec.vault", SECRET)],
  ["an error with a cause", () => new Error("no", { cause: new Error(SECRET) })],
  ["a text", () => SECRET],
] as const;

/** Everything that an error or an answer shows, with causes and what isn't enumerable. */
function shown(value: unknown): string {
  const seen = new Set<unknown>();
  const collect = (one: unknown): string => {
    if (typeof one !== "object" || one === null || seen.has(one)) return String(one);
    seen.add(one);
    return Reflect.ownKeys(one)
      .map((key) => `${String(key)}: ${collect(Reflect.get(one, key))}`)
      .join("\n");
  };
  return collect(value);
}

const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

describe.each(ENGINES)("the error of a failing codec on $name, which only the log gets:", (engine) => {
  const workflows = useWorkflows(engine);
  const hooks = useHooks(engine);
  const subjects = useDispatcher(engine);

  describe.each(THROWN)("it throws %s", (_, thrown) => {
    const deaf: Codec = { encode: BACKWARDS.encode, decode: () => Promise.reject(thrown()) };
    const mute: Codec = { encode: () => Promise.reject(thrown()), decode: BACKWARDS.decode };

    test("a reader of instances sees a code and a fixed text", async () => {
      const workflow = defineWorkflow({ name: "easy" }, async (_: WorkflowEvent<string>, step) =>
        step.do("one", () => "secret"),
      );
      const logs = new LogBook();
      const writer = workflows.process({ workflow }, { adapter: openWith(workflows, BACKWARDS) });
      await writer.workflows.workflow.create({ id: "one", params: "p" });
      await writer.drain();
      const reader = workflows.process({ workflow }, { adapter: openWith(workflows, deaf, logs) });
      const instance = await reader.workflows.workflow.get("one");
      const seen = [
        await settled(instance.status()),
        await settled(instance.result()),
        await instance.history(),
        await reader.workflows.workflow.list(),
        await settled(reader.workflows.workflow.create({ id: "two", params: "p" })),
      ];
      expect(seen[0]).toMatchObject({ code: "codec.failed" });
      expect(shown(seen)).not.toContain(SECRET);
      expect(shown(logs.lines)).toContain(SECRET);
    });

    test("a reader of hooks sees a code and a fixed text", async () => {
      const greet = defineHook({}, (_: string) => {});
      const writer = hooks.process({ greet }, { adapter: openWith(hooks, BACKWARDS) });
      const { id } = await writer.hooks.greet.trigger("ada");
      const reader = hooks.process({ greet }, { adapter: openWith(hooks, deaf) });
      const seen = [await settled(reader.durableHooks.get(id)), await reader.durableHooks.list()];
      expect(seen[0]).toMatchObject({ code: "codec.failed" });
      expect(shown(seen)).not.toContain(SECRET);
    });

    test("the error of a handler that couldn't write a value holds nothing of it", async () => {
      const other = openWith(hooks, mute);
      const greet = defineHook({}, (_: string) => {});
      const refused = hooks.process({ greet }, { adapter: other });
      const relay = defineHook({ retries: { limit: 0 } }, async (_: string) => {
        await refused.hooks.greet.trigger("ada");
      });
      const process = hooks.process({ relay });
      const { id } = await process.hooks.relay.trigger("x");
      await process.drain();
      const letter = await process.durableHooks.get(id);
      expect(letter).toMatchObject({ status: "failed", error: { code: "codec.failed" } });
      expect(shown(letter)).not.toContain(SECRET);
    });

    test("a list of subjects shows all others, and no text of the codec's", async () => {
      const open = (codec: Codec) =>
        createSubjectDispatcher<number>({
          database: subjects.database.reopen({ clock: subjects.clock, codec, logger: new LogBook() }),
          profile: subjects.profile,
          dispatcherId: "imports",
        });
      await open(BACKWARDS).syncSubjects({ subjects: [{ subjectKey: "a", cursor: 12345 }] });
      const partly: Codec = {
        encode: (text) => `partly ${text}`,
        decode: (text) => (text.startsWith("partly ") ? text.slice(7) : Promise.reject(thrown())),
      };
      const reader = open(partly);
      await reader.syncSubjects({ subjects: [{ subjectKey: "b", cursor: 7 }] });
      const page = await reader.listSubjects();
      expect(page.subjects).toMatchObject([
        { subjectKey: "a", cursor: null, unreadable: { code: "codec.failed" } },
        { subjectKey: "b", cursor: 7 },
      ]);
      expect(page.subjects[1]).not.toHaveProperty("unreadable");
      expect(shown(page)).not.toContain(SECRET);
    });
  });

  test("the same failure is logged once a minute, however many values can't be read", async () => {
    const workflow = defineWorkflow({ name: "easy" }, async (event: WorkflowEvent<number>) => event.payload);
    const writer = workflows.process({ workflow }, { adapter: openWith(workflows, BACKWARDS) });
    await writer.workflows.workflow.createBatch(Array.from({ length: 20 }, (_, n) => ({ id: `i${n}`, params: n })));
    const logs = new LogBook();
    const deaf: Codec = { ...BACKWARDS, decode: () => Promise.reject(new Error("away")) };
    const reader = workflows.process({ workflow }, { adapter: openWith(workflows, deaf, logs) });
    const list = () => reader.workflows.workflow.list();
    await list();
    await list();
    expect(logs.messages("error")).toEqual(["The codec failed: a value can't be read."]);
    workflows.clock.advance(MINUTE);
    await list();
    expect(logs.messages("error")).toHaveLength(2);
  });
});
