import { DurableObject } from "cloudflare:workers";

export { MyFragmentDO } from "./my-fragment-do.ts";
export { Shop, Stock } from "./shop.ts";

/** Its storage is the database of a test, whose functions run inside it. */
export class DatabaseObject extends DurableObject {}

export default {
  fetch: () => new Response("Only tests run here."),
};
