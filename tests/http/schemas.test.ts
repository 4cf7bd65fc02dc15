import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { ENGINES } from "../support/engines.ts";
import { useHttp } from "./support/use-http.ts";

const declared = defineWorkflow(
  {
    name: "declared",
    input: z.object({ total: z.number().min(1), note: z.string().optional() }),
    events: { approved: z.object({ by: z.string() }), moved: z.object({ at: z.date() }) },
  },
  async () => {},
);
const free = defineWorkflow({ name: "free" }, async () => {});

/** No engine is asked. */
describe.each(ENGINES.slice(0, 1))("declared schemas over HTTP", (engine) => {
  const subject = useHttp(engine);

  test("are JSON Schema, and null where JSON can't have the values or nothing is declared", async () => {
    const client = subject.serve(await subject.start({ workflows: { declared, free } }));
    const own = await client.get("/workflows/declared/schemas");

    expect(own.body).toMatchObject({
      input: {
        type: "object",
        properties: { total: { type: "number", minimum: 1 }, note: { type: "string" } },
        required: ["total"],
      },
      events: { approved: { type: "object", properties: { by: { type: "string" } } }, moved: null },
    });
    expect((await client.get("/workflows/free/schemas")).body).toEqual({ input: null, events: null });
    expect((await client.get("/workflows/other/schemas")).status).toBe(404);
  });
});
