/** An application behind Fastify. */
import fastify, { type FastifyInstance } from "fastify";
import { bearerToken, createHttpHandler, type Servable } from "perdure/http";
import { toNodeHandler } from "perdure/http/node";

export function createFastifyServer(app: Servable, token: string): FastifyInstance {
  const handle = toNodeHandler(createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) }));
  const server = fastify();
  server.get("/", async () => "the application's own page");
  void server.register((scope, _options, ready) => {
    // Within this scope Fastify leaves bodies alone, so the handler reads them itself, within its own limits.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.all("/perdure/*", async ({ raw }, reply) => {
      reply.hijack();
      await handle(raw, reply.raw);
    });
    ready();
  });
  return server;
}
