import {
  defineHook,
  defineSubjects,
  defineWorkflow,
  type OwnedTransaction,
  type WorkflowEvent,
  type WorkflowStepContext,
} from "perdure";
import { PerdureObject } from "perdure/durable-object";

/** What has happened, by what it is about. */
export const happened = new Map<string, string[]>();
/** What steps wait for, by the instance's id: to be found in the middle of one. */
export const stepGates = new Map<string, Promise<void>>();

export function note(subject: string, what: string): void {
  happened.set(subject, [...(happened.get(subject) ?? []), what]);
}

const checkout = defineWorkflow(
  { name: "check-out" },
  async ({ payload, instanceId: id }: WorkflowEvent<{ total: number; nap?: number; paid?: Date }>, step) => {
    const charge = await step.do("charge", async () => {
      note(id, "charge");
      await stepGates.get(id);
      return payload.total;
    });
    if (payload.nap !== undefined) await step.sleep("nap", payload.nap);
    const receipt = await step.do("book", () => {
      note(id, "book");
      return { total: charge, paid: payload.paid };
    });
    return receipt;
  },
);

const approval = defineWorkflow({ name: "approval" }, async (_event: WorkflowEvent<unknown>, step) => {
  const { payload } = await step.waitForEvent<string>("answer", { type: "answered" });
  if (payload === "no") throw new RangeError("It was refused.");
  return payload;
});

const parent = defineWorkflow({ name: "parent" }, async (_event: WorkflowEvent<unknown>, step) => {
  const child = await step.create(checkout, { params: { total: 7 } });
  return child.id;
});

const ledger = defineWorkflow({ name: "ledger" }, async (_event: WorkflowEvent<unknown>, step) => {
  const write = async (tx: OwnedTransaction, ctx: WorkflowStepContext) => {
    await tx.sql`create table if not exists ledger (key text, attempt integer)`;
    await tx.sql`insert into ledger (key, attempt) values (${ctx.idempotencyKey}, ${ctx.attempt})`;
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (ctx.attempt === 1) throw new Error("It is rolled back.");
    return tx.sql`select attempt from ledger`;
  };
  const [, rows] = await Promise.all([
    step.do("beside", () => 1),
    step.transaction("write", { retries: { limit: 1, delay: 0 } }, write),
  ]);
  return rows;
});

const signed = defineWorkflow({ name: "signed" }, async ({ instanceId }: WorkflowEvent<unknown>, step) => {
  const token = await step.createToken<string>("signature", { timeout: "1 day" });
  await step.do("send", () => note(instanceId, token.value));
  return token.result();
});

const greet = defineHook({}, async (name: string) => note(name, "greeted"));

/** Replayed after its hook was triggered and its event was sent. */
const caller = defineWorkflow({ name: "caller" }, async ({ instanceId }: WorkflowEvent<unknown>, step) => {
  const hook = await step.trigger(greet, instanceId);
  await step.sendEvent({ workflow: approval, id: instanceId }, { type: "answered", payload: hook.id });
  const missing = await step
    .sendEvent({ workflow: "approval", id: "none" }, { type: "answered", payload: "yes" })
    .catch(({ code }: { code?: unknown }) => code);
  await step.sleep("nap", 6000);
  return { hook: hook.id, missing };
});

export const workflows = { checkout, approval, parent, ledger, signed, caller };

const stock = defineSubjects({
  every: "1 hour",
  discover: async () => [{ subjectKey: "berlin" }],
  handle: async (subject) => note(`stock of ${subject.subjectKey}`, "counted"),
});

export class Shop extends PerdureObject.of({
  workflows,
  hooks: { greet },
  tokens: { secret: "a secret of more than thirty-two characters" },
  onAudit: ({ action, target, actor }) => {
    if (target.kind === "instance") note(`audit of ${target.instanceId}`, `${action} by ${actor}`);
  },
  http: { authorize: ({ request }) => request.headers.get("authorization") === "Bearer secret" },
}) {}

export class Stock extends PerdureObject.of({ subjects: { stock } }) {}
