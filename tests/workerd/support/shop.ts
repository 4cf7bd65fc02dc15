import { defineHook, defineSubjects, defineWorkflow, type WorkflowEvent } from "perdure";
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

export const workflows = { checkout, approval, parent };

const greet = defineHook({}, async (name: string) => note(name, "greeted"));

const stock = defineSubjects({
  every: "1 hour",
  discover: async () => [{ subjectKey: "berlin" }],
  handle: async (subject) => note(`stock of ${subject.subjectKey}`, "counted"),
});

export class Shop extends PerdureObject.of({
  workflows,
  hooks: { greet },
  http: { authorize: ({ request }) => request.headers.get("authorization") === "Bearer secret" },
}) {}

export class Stock extends PerdureObject.of({ subjects: { stock } }) {}
