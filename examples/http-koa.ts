/** An application behind Koa, with a parser of bodies in front of it. */
import { bodyParser } from "@koa/bodyparser";
import Koa from "koa";
import { bearerToken, createHttpHandler, type Servable } from "perdure/http";
import { toNodeHandler } from "perdure/http/node";

export function createKoaServer(app: Servable, token: string): Koa {
  const handle = toNodeHandler(createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) }));
  const server = new Koa();
  server.use(bodyParser({ patchNode: true, jsonLimit: "10mb" })); // patchNode: the handler finds the parsed body in req.body
  server.use(async (context, next) => {
    if (!context.path.startsWith("/perdure/")) return next();
    context.respond = false;
    await handle(context.req, context.res);
  });
  server.use((context) => {
    context.body = "the application's own page";
  });
  return server;
}
