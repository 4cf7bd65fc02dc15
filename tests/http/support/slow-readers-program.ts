/**
 * Serves an instance with large results, under a limit of memory that few of them fit into. Prints its port when it is ready.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpHandler } from "../../../src/http/index.ts";
import { toNodeHandler } from "../../../src/http/node.ts";
import { defineWorkflow, perdure } from "../../../src/index.ts";

/** Small results first: a page that was measured by its entries alone would then hold many large ones. */
const SMALL_STEPS = 60;
const LARGE_STEPS = 24;
const LARGE = "x".repeat(900_000);

const large = defineWorkflow({ name: "large" }, async (_event, step) => {
  for (let index = 0; index < SMALL_STEPS; index++) await step.do(`small ${index}`, async () => index);
  for (let index = 0; index < LARGE_STEPS; index++) await step.do(`large ${index}`, async () => LARGE);
  return LARGE;
});

const app = await perdure({ database: process.argv[2] as string, workflows: { large } });
await (await app.workflows.large.create({ id: "one" })).result();
const handle = toNodeHandler(createHttpHandler(app, { authorize: () => true, maxUnreadBytes: 8 * 1024 * 1024 }));
const server = createServer((request, response) => {
  if (request.url !== "/connections") void handle(request, response);
  else server.getConnections((_error, count) => response.end(String(count)));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
