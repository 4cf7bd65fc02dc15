import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { Workflows } from "../../src/workflows/define/workflow-types.ts";
import type { Params } from "../checks/instance-records.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { ALL_PROGRAM_NAMES, KEPT_PROGRESS, type ProgramName, UNTOLD_PROGRAMS } from "../names.ts";
import { createEndingHooks } from "./ending-hooks.ts";
import { LIMITS } from "./limits.ts";
import { type CodeVersion, schedulesOf } from "./program-schedules.ts";
import { Script } from "./script.ts";

interface Program {
  readonly run: (script: Script) => Promise<unknown>;
  /** Whether it waits for something that isn't a step, so that the journal alone doesn't determine what comes next. */
  readonly unorderly?: true;
  /** Whether it calls one step after the other. */
  readonly solo?: true;
}

/** What simulated workflows do. */
const PROGRAMS: Readonly<Record<ProgramName, Program>> = {
  sequential: {
    solo: true,
    run: async (script) => {
      await script.do("first");
      await script.do("second");
      await script.do("third");
    },
  },
  parallel: {
    run: async (script) => {
      const branch = async (name: string) => {
        await script.do(name);
        await script.do(`${name} again`);
      };
      await Promise.allSettled([branch("left"), branch("right"), script.do("middle")]);
      await script.do("last");
    },
  },
  racing: {
    run: async (script) => {
      const first = await Promise.race([
        script.do("hare").then(
          () => "hare",
          () => "neither",
        ),
        script.do("tortoise").then(() => "tortoise"),
        script.sleep("patience", script.params.short).then(() => "nobody"),
      ]);
      await script.do(`prize of ${first}`);
      const any = await Promise.any([script.do("one"), script.do("two").then(() => "two")]);
      await script.do(`after ${any === "two" ? "two" : "one"}`);
      return first;
    },
  },
  looping: {
    solo: true,
    run: async (script) => {
      for (let round = 0; round < 3; round++) {
        await script.do("same");
        await script.sleep("breath", script.params.short);
      }
    },
  },
  sleeping: {
    solo: true,
    run: async (script) => {
      await script.do("before");
      await script.sleep("night", script.params.long);
      await script.do("between");
      await script.sleep("nap", script.params.short);
      await script.do("after");
    },
  },
  listening: {
    solo: true,
    run: async (script) => {
      const first = await script.wait("approved", script.params.long);
      await script.do(first === null ? "without approval" : "approved");
      const second = await script.wait("changed", 2000 + script.params.short);
      await script.do("listened");
      const third = await script.wait("approved", script.params.long);
      return [first, second, third];
    },
  },
  crowded: {
    run: async (script) => {
      const { short, long } = script.params;
      const got = await Promise.all([
        script.wait("approved first", 1000 + short),
        script.wait("approved second", long),
        script.wait("changed third", long / 2),
        script.do("meanwhile").then(() => script.wait("approved fourth", long)),
      ]);
      await script.do("together");
      return got;
    },
  },
  failing: {
    solo: true,
    run: async (script) => {
      const result = await script.do("risky", { limit: 2 }).catch(() => "failed");
      await script.do(result === "failed" ? "make good" : "go on");
      await script.do("risky", { limit: 1 });
    },
  },
  exact: {
    solo: true,
    run: async (script) => {
      const result = await script.do("once", { limit: 0 }).catch(() => "failed");
      await script.do(result === "failed" ? "look into it" : "go on");
      await script.do("once more", { limit: 0 });
    },
  },
  parent: {
    run: async (script) => {
      const params: Params = { ...script.params, n: null };
      const first = await script.create("child", params);
      const [second, third] = await Promise.all([script.create("child", params), script.create("sequential", params)]);
      await script.do("family");
      return new Set([first, second, third]).size;
    },
  },
  child: {
    solo: true,
    run: async (script) => {
      await script.do("grow");
      await script.sleep("rest", script.params.short);
    },
  },
  late: {
    unorderly: true,
    run: async (script) => {
      const { short, long } = script.params;
      await Promise.all([
        script.sleep("night", long),
        script.pause(short + 2000).then(() => script.do("visitor")),
        script.pause(long / 2).then(() => script.sleep("snore", short)),
      ]);
      await script.do("morning");
    },
  },
  nested: {
    run: async (script) => {
      await script.do("outer", { inside: () => Promise.all([script.inner("inner one"), script.inner("inner two")]) });
      await script.do("last");
    },
  },
  telling: {
    solo: true,
    run: async (script) => {
      await script.do("aloud", { tells: 3 });
      await script.do(KEPT_PROGRESS, { tells: 2 });
      await script.do("last words", { tells: 1 });
    },
  },
  streaming: {
    solo: true,
    run: async (script) => {
      await script.stream("pour");
      await script.do("drink");
      await script.sleep("rest", script.params.short + 4000);
      await script.stream("refill");
    },
  },
  undoable: {
    run: async (script) => {
      const { short, long } = script.params;
      await script.do("reserve", { undo: 3 });
      await Promise.all([
        script.do("charge", { undo: 1 }).then(() => script.do("receipt", { undo: 2 })),
        script.sleep("breath", short),
        script.do("pack", { undo: 0 }),
        script.do("tell"),
      ]);
      await script.wait("approved", long);
      await script.do("ship", { undo: 2 });
    },
  },
  undone: {
    solo: true,
    run: async (script) => {
      for (let round = 0; round < 2; round++) await script.do("book", { undo: 3 });
      await script.sleep("breath", script.params.short + 3000);
      await script.do("try", { undo: 2 }).catch(() => {});
      await script.do("plain");
      await script.refuse("fail");
    },
  },
  transacting: {
    run: async (script) => {
      await script.transact("ledger one");
      await Promise.allSettled([script.do("beside"), script.transact("ledger two"), script.transact("ledger three")]);
      await script.sleep("breath", script.params.short);
      await script.transact("ledger one");
    },
  },
  gathering: {
    run: async (script) => {
      const params: Params = { ...script.params, n: null };
      const [child, failing] = await Promise.all([script.create("child", params), script.create("failing", params)]);
      const first = script.result("child", child); // may end before the others are asked for
      first.catch(() => {});
      await script.do("meanwhile");
      const ends = await Promise.allSettled([first, script.result("failing", failing), script.result("child", child)]);
      await script.do("gathered");
      return ends.map(({ status }) => status);
    },
  },
  nesting: {
    solo: true,
    run: async (script) => {
      const inner = await script.create("gathering", { ...script.params, n: null });
      await script.result("gathering", inner);
      await script.do("after all");
    },
  },
  fatal: {
    run: async (script) => {
      script.mayKill();
      await script.do("alive");
    },
  },
};

/** What the code of a process has beside its programs. */
export interface Code {
  readonly version: CodeVersion;
  /** Whether runs trigger hooks at their end. */
  readonly told: boolean;
  /** How long failed instances are kept, one value for each half of them; null means for ever. */
  readonly retentionMs: number | null;
}

/** The workflows of one process. */
export function createWorkflows(process: () => SimulatedProcess, code: Code): Workflows {
  return Object.fromEntries(ALL_PROGRAM_NAMES.map((name) => [name, createWorkflow(name, process, code)]));
}

function createWorkflow(name: ProgramName, process: () => SimulatedProcess, { version, told, retentionMs }: Code) {
  const { run, unorderly = false, solo = false } = PROGRAMS[name];
  const schedules = schedulesOf(version, name);
  const endings = told && !UNTOLD_PROGRAMS.includes(name) ? createEndingHooks(process) : {};
  const retention = retentionMs === null ? {} : { errorRetention: retentionMs * 2 };
  return defineWorkflow<Params>({ name, schedules, retention, ...LIMITS[name], ...endings }, async (event, step) => {
    const script = new Script(process(), step, event, { orderly: !unorderly, solo });
    const result = await run(script);
    return { result, seen: [...script.seen], orderly: !unorderly };
  });
}
