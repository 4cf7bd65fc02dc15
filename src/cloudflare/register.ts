import * as nodeModule from "node:module";
import { load, resolve } from "./resolve-hook.ts";

/**
 * `node --import perdure/register` lets files import Cloudflare's modules (`cloudflare:workers`, `cloudflare:workflows`, `cloudflare:email`), and each
 * other as Cloudflare's bundler lets them. So a program with workflows that is written for Cloudflare runs unchanged.
 */
const [, extension] = /\.(ts|js)$/.exec(import.meta.url) ?? [];

if (typeof nodeModule.registerHooks === "function") nodeModule.registerHooks({ resolve, load });
else nodeModule.register(`./resolve-hook.${extension}`, import.meta.url); // before Node 22.15
