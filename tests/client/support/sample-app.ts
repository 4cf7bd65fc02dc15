import { z } from "zod";
import { type Application, defineWorkflow, type WorkflowEvent } from "../../../src/index.ts";
import type { useHttp } from "../../http/support/use-http.ts";

const checkout = defineWorkflow(
  {
    name: "checkout-workflow",
    input: z.object({ total: z.number() }),
    events: { approved: z.object({ by: z.string() }) },
  },
  async (event, step) => {
    const charge = await step.do("charge", async () => ({ amount: event.payload.total, at: new Date(5) }));
    const { payload } = await step.waitForEvent("approval", { type: "approved" });
    return { charge, by: payload.by, parts: new Map([["a", 1n]]) };
  },
);

const echo = defineWorkflow({ name: "echo" }, async (event: WorkflowEvent<unknown>) => event.payload);
const failing = defineWorkflow({ name: "failing" }, async () => {
  throw new RangeError("out of range");
});
/** Emits its params, and gives them. */
const rich = defineWorkflow({ name: "rich" }, async ({ payload }: WorkflowEvent<unknown>, step) =>
  step.do("emit", { progress: "keep" }, async ({ emit }) => {
    await emit(payload);
    return payload;
  }),
);

/** Takes back what it has done. */
const undone = defineWorkflow({ name: "undone" }, async (_event, step) => {
  await step.do("do", async () => {}, { rollback: async () => {} });
  throw new Error("to be undone");
});

/** The tokens of `signed`, in the order in which they were made. */
export const givenTokens: string[] = [];
const signed = defineWorkflow({ name: "signed" }, async (_event: WorkflowEvent<unknown>, step) => {
  const token = await step.createToken<Date>("signature", { timeout: "1 day" });
  await step.do("give out", () => void givenTokens.push(token.value));
  return token.result();
});

const workflows = { checkout, echo, failing, rich, undone, signed };

export type App = Application<Record<never, never>, typeof workflows>;

export function start(subject: ReturnType<typeof useHttp>): Promise<App> {
  return subject.start({ workflows, tokens: { secret: "a secret of more than thirty-two characters" } });
}
