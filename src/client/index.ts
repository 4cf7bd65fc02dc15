export type { ClientOptions } from "./client-options.ts";
export { type Client, createClient, type ServedApplication } from "./create-client.ts";
