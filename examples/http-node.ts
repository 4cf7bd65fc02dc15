/** An application behind Node's own server. */
import { createServer, type Server } from "node:http";
import { bearerToken, createHttpHandler, type Servable } from "perdure/http";
import { toNodeHandler } from "perdure/http/node";

export function createNodeServer(app: Servable, token: string): Server {
  const handler = createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) });
  return createServer(toNodeHandler(handler));
}
