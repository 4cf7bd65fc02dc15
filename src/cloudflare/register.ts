import * as nodeModule from "node:module";
import { resolve } from "./resolve-hook.ts";

/**
 * `node --import perdure/register` lets a file import `cloudflare:workers` and `cloudflare:workflows`: they are `perdure/cloudflare`.
 * So a workflow that is written for Cloudflare runs unchanged.
 */
const [, extension] = /\.(ts|js)$/.exec(import.meta.url) ?? [];

if (typeof nodeModule.registerHooks === "function") nodeModule.registerHooks({ resolve });
else nodeModule.register(`./resolve-hook.${extension}`, import.meta.url); // before Node 22.15
