import { defineHook, defineWorkflow, NonRetryableError, type WorkflowEvent } from "../../../src/index.ts";

/** Is in every value that the tests store, and nowhere else. */
const MARKER = "Xq7SECRETpT";

export interface Secret {
  readonly secret: string;
}

export function secret(what: string): Secret {
  return { secret: `${MARKER} ${what}` };
}

export function secretError(what: string): Error {
  return Object.assign(new Error(`${MARKER} ${what}`), { details: secret(what) });
}

/** The secrets that can be read in a text. */
export function secretsIn(text: string): string[] {
  return Array.from(text.matchAll(new RegExp(`${MARKER} [a-z ]*`, "g")), ([found]) => found);
}

/** Hooks and workflows that store values in every way there is. `open` ends the slow hook and step. */
export function secretive() {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const seen: string[] = [];
  const hooks = {
    note: defineHook({}, (payload: Secret) => void seen.push(payload.secret)),
    slow: defineHook({}, async (payload: Secret) => {
      seen.push(payload.secret);
      await opened;
    }),
    fail: defineHook({ retries: { limit: 1, delay: 0 } }, (_: Secret) =>
      Promise.reject(secretError("error of a hook")),
    ),
    retry: defineHook({ retries: { limit: 5, delay: "1 hour" } }, (_: Secret) =>
      Promise.reject(secretError("error of a retry")),
    ),
  };
  const child = defineWorkflow({ name: "child" }, async (event: WorkflowEvent<Secret>) => event.payload);
  const everything = defineWorkflow({ name: "everything" }, async (event: WorkflowEvent<Secret>, step) => {
    const stored = await step.do("store", async (ctx) => {
      await ctx.emit(secret("progress"));
      seen.push(secret("progress").secret);
      await opened; // progress is dropped when its step has ended
      return secret("result of a step");
    });
    const caught = await step
      .do("fail", { retries: { limit: 1, delay: 0 } }, () => Promise.reject(secretError("error of a step")))
      .catch((error: Error) => error.message);
    const { payload } = await step.waitForEvent<Secret>("wait", { type: "word" });
    await step.create("child", { params: secret("params of a child") });
    return [event.payload, stored, caught, payload];
  });
  const broken = defineWorkflow({ name: "broken" }, async (_: WorkflowEvent<Secret>) => {
    throw new NonRetryableError(secret("error of a workflow").secret);
  });
  /** One at a time, undone when it fails, and its end triggers a hook. */
  const undone = defineWorkflow(
    {
      name: "undone",
      concurrency: { limit: 1 },
      onErrored: ({ error }) => void seen.push((error as Error).message),
    },
    async (_: WorkflowEvent<Secret>, step) => {
      await step.do("stream", async () => ReadableStream.from([secret("chunk of a stream").secret]));
      await step.do("undo", async () => secret("output to be undone"), {
        rollback: () => Promise.reject(new NonRetryableError(secret("error of a rollback").secret)),
      });
      throw new NonRetryableError(secret("error to be undone").secret);
    },
  );
  const schedules = [{ cron: "0 0 1 1 *", name: "yearly", params: secret("params of a schedule") }];
  const scheduled = defineWorkflow(
    { name: "scheduled", schedules, onCompleted: ({ output }) => void seen.push((output as Secret).secret) },
    async (_: WorkflowEvent<unknown>) => secret("output told to a hook"),
  );
  return { hooks, workflows: { everything, broken, child, undone, scheduled }, seen, open };
}
