/** An application behind Express, with parsers of bodies in front of it or not. */
import express, { type Express } from "express";
import { bearerToken, createHttpHandler, type Servable } from "perdure/http";
import { toNodeHandler } from "perdure/http/node";

export function createExpressServer(app: Servable, token: string): Express {
  const handler = createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) });
  const server = express();
  server.get("/", (_request, response) => void response.send("the application's own page"));
  server.use("/perdure", toNodeHandler(handler));
  return server;
}
