/** An application behind Node's own server. */
import { createServer, type Server } from "node:http";
import { bearerToken, createHttpHandler, type Servable } from "../src/http/index.ts";
import { toNodeHandler } from "../src/http/node.ts";

export function createNodeServer(app: Servable, token: string): Server {
  const handler = createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) });
  return createServer(toNodeHandler(handler));
}
