/** An application behind Hono, which speaks the Web's own requests. */
import { Hono } from "hono";
import { bearerToken, createHttpHandler, type Servable } from "perdure/http";

export function createHonoServer(app: Servable, token: string): Hono {
  const handler = createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) });
  const server = new Hono();
  server.get("/", (context) => context.text("the application's own page"));
  server.all("/perdure/*", (context) => handler(context.req.raw));
  return server;
}
