import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { ENGINES } from "../support/engines.ts";
import { PLAIN_TRIGGER } from "../support/use-store.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

describe.each(ENGINES)("workers on $name", (engine) => {
  const subject = useHttp(engine);

  test("are the same in process, over HTTP and in the client", async () => {
    const app = await subject.start({ workflows, hooks });
    const http = subject.serve(app);
    const workers = await waitUntil("there is a worker", async () => {
      const listed = await app.workers();
      return listed.length > 0 ? listed : null;
    });
    const client = createClient({ baseUrl: "http://localhost", fetch: (request) => http.handler(request as Request) });

    expect(workers).toMatchObject([{ alive: true, pid: process.pid, hooks: Object.keys(hooks) }]);
    expect(workers[0]?.workflows.toSorted()).toEqual(
      Object.values(app.parts.workflows?.workflows.names ?? []).toSorted(),
    );
    const { status, body } = await http.get("/workers");
    expect([status, body]).toEqual([200, JSON.parse(JSON.stringify({ workers }))]);
    expect(await client.workers()).toEqual(workers);
  });

  test("and work that none of them runs are listed in the same way", async () => {
    const app = await subject.start({ workflows, hooks });
    const http = subject.serve(app);
    const { namespace } = app.parts;
    const lost = { ...PLAIN_TRIGGER, namespace, id: "lost-1", name: "lost" };
    await app.parts.store.hooks.statements.insert([lost]);
    const client = createClient({ baseUrl: "http://localhost", fetch: (request) => http.handler(request as Request) });
    const unclaimed = await app.unclaimed();

    expect(unclaimed).toEqual([{ kind: "hook", name: "lost", due: 1, since: expect.any(Date) }]);
    const { status, body } = await http.get("/workers/unclaimed");
    expect([status, body]).toEqual([200, JSON.parse(JSON.stringify({ unclaimed }))]);
    expect(await client.unclaimed()).toEqual(unclaimed);
  });

  test("need the permission to read", async () => {
    const app = await subject.start({ hooks });
    const denied = subject.serve(app, { authorize: { create: () => true } });

    expect(await denied.get("/workers")).toMatchObject({ status: 403, body: { code: "http.forbidden" } });
  });
});
