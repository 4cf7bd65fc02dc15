import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { loadPeer } from "../harness/load-peer.ts";
import type { Session, WorkflowContender } from "./contender.ts";
import { makeOrder, type Order, runOrder, STEPS, WORKFLOW_NAME } from "./order.ts";
import { startRestate } from "./restate-server.ts";
import { WORK_NAMES } from "./work-names.ts";

interface Restate {
  service(definition: {
    name: string;
    handlers: Record<string, (context: Context, order: Order) => Promise<unknown>>;
  }): object;
  createEndpointHandler(options: { services: object[]; logger: () => void }): Parameters<typeof createServer>[1];
}

interface Context {
  run(name: string, body: () => Promise<unknown>): Promise<unknown>;
}

interface Tuning {
  /** Calls at once. */
  readonly callers: number;
  /** Of the server's store. */
  readonly partitions: number;
}

const DEFAULTS: Tuning = { callers: 100, partitions: 24 };
const TUNED: Tuning = { callers: 200, partitions: 1 };

export const restateDefaults: WorkflowContender = {
  ...restateWith("restate (defaults)", DEFAULTS),
  works: [WORK_NAMES.one, WORK_NAMES.manyByDefault, WORK_NAMES.steps],
};

export const restate: WorkflowContender = restateWith("restate", TUNED);

/** What `--sweep` tries: calls at once, and the partitions of its store. */
export const restateVariants: readonly WorkflowContender[] = [
  { callers: 50, partitions: 24 },
  { callers: 200, partitions: 24 },
  { callers: 200, partitions: 4 },
  { callers: 200, partitions: 1 },
  { callers: 500, partitions: 4 },
].map((tuning) => restateWith(`restate ${JSON.stringify(tuning)}`, tuning));

/** It keeps everything in a store of its own, so it is a peer on no engine, and compared with ours on PostgreSQL. */
function restateWith(name: string, tuning: Tuning): WorkflowContender {
  return {
    name,
    role: "peer",
    packages: ["@restatedev/restate-server", "@restatedev/restate-sdk"],
    engine: "postgres",
    settings: `its own native server and store, fsync on; ${JSON.stringify(tuning)}`,
    works: [WORK_NAMES.many],
    maximumWorkflows: 2000,
    open: () => open(tuning),
  };
}

async function open({ callers, partitions }: Tuning): Promise<Session> {
  const { service, createEndpointHandler } = await loadPeer<Restate>("@restatedev/restate-sdk");
  const order = service({
    name: WORKFLOW_NAME,
    handlers: { run: (context, params) => runOrder(params, (name, body) => context.run(name, body)) },
  });
  const endpoint = createServer(createEndpointHandler({ services: [order], logger: () => {} }));
  const sessions = new Set<ServerHttp2Session>();
  endpoint.on("session", (session) => sessions.add(session));
  endpoint.listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  const server = await startRestate(partitions);
  await server.register(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`);

  const call = async (params: Order) => {
    const response = await fetch(`${server.ingress}/${WORKFLOW_NAME}/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(params),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Restate answered with ${response.status} ${text.slice(0, 200)}`);
  };
  return {
    runOne: (steps) => call(makeOrder(steps)),
    async runMany(count) {
      let started = 0;
      const caller = async () => {
        while (started < count) await call(makeOrder(STEPS, started++));
      };
      await Promise.all(Array.from({ length: callers }, caller));
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      for (const session of sessions) session.destroy();
      endpoint.close();
    },
  };
}
