import { describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/index.ts";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { useWorkflows } from "../workflows/support/use-workflows.ts";
import { readRawText } from "./support/raw-text.ts";

const SECRET = "a secret of more than thirty-two characters";

describe.each(ENGINES)("tokens on $name, without a codec,", (engine) => {
  const subject = useWorkflows(engine);

  test("are in no table, before and after their use over HTTP, and neither is their secret", async () => {
    const given: string[] = [];
    const ask = defineWorkflow({ name: "ask" }, async (_event, step) => {
      const token = await step.createToken<string>("decision");
      await step.do("give out", () => void given.push(token.value));
      return token.result();
    });
    const process = subject.process({ ask }, { tokens: { secret: SECRET } });
    const instance = await process.workflows.ask.create();
    await process.drain();
    const [token = ""] = given;
    const read = () => readRawText(subject.database as TestStore);
    const before = await read();
    const handler = createHttpHandler(process.fragment as never, { authorize: () => false });
    const headers = { "content-type": "application/json", "idempotency-key": "one" };
    const body = JSON.stringify({ payload: "yes" });
    const reply = await handler(new Request(`https://example.org/tokens/${token}`, { method: "POST", headers, body }));
    await process.drain();

    expect([reply.status, await instance.result()]).toEqual([204, "yes"]);
    for (const text of [before, await read()]) {
      expect(text).toContain("decision"); // the name of the step is there
      expect(text).not.toContain(token);
      expect(text).not.toContain(SECRET);
    }
  });
});
