import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../support/wait-until.ts";

/** Somewhere that a Worker runs. */
interface Place {
  fetch(path: string): Promise<{ text(): Promise<string> }>;
  close(): Promise<unknown>;
}

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

async function inWorkerd(sample: string, bindings: object): Promise<Place> {
  const entryPoints = [pathOf(`./samples/${sample}.ts`)];
  const built = await build({ entryPoints, bundle: true, format: "esm", write: false, external: ["cloudflare:*"] });
  const options = {
    modules: true,
    script: built.outputFiles[0]?.text ?? "",
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["nodejs_compat"],
    bindings: { API_KEY: "key" },
    ...bindings,
  };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options as unknown as V4MiniflareOptions));
  return { fetch: (path) => miniflare.dispatchFetch(`http://shop${path}`), close: () => miniflare.dispose() };
}

async function onNode(): Promise<Place> {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const register = new URL("../../src/cloudflare/register.ts", import.meta.url).href;
  const child = spawn(process.execPath, ["--import", register, pathOf("./run-orders.ts")], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const port = await new Promise((resolve) => child.stdout.once("data", (text) => resolve(String(text).trim())));
  return {
    fetch: (path) => fetch(`http://127.0.0.1:${port}${path}`),
    close: () => {
      child.stdin.end();
      return ended;
    },
  };
}

const PLACES: readonly { readonly name: string; readonly start: () => Promise<Place> }[] = [
  {
    name: "on Cloudflare's own engine",
    start: () =>
      inWorkerd("orders", {
        workflows: {
          ORDERS: { name: "orders", className: "OrderWorkflow" },
          PRICES: { name: "prices", className: "PriceWorkflow" },
        },
      }),
  },
  {
    name: "in a Durable Object of ours",
    start: () => inWorkerd("orders-object", { durableObjects: { SHOP: { className: "Shop", useSQLite: true } } }),
  },
  { name: "on Node", start: onNode },
];

describe.each(PLACES)("a file as people write it for Cloudflare, $name", ({ start }) => {
  let place: Place;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place?.close());

  const ask = async (path: string) => JSON.parse(await (await place.fetch(path)).text());

  test("has the same result there", async () => {
    const { id } = await ask("/");
    await ask(`/approve?instanceId=${id}`);
    const details = await waitUntil("it has ended", async () => {
      const { details: shown } = await ask(`/?instanceId=${id}`);
      return ["complete", "errored"].includes(shown.status) && shown;
    });

    expect(details).toMatchObject({
      status: "complete",
      output: {
        answer: { files: 2 },
        refused: true,
        price: 63,
        sizes: [7, 9],
        by: "Eve",
        label: "key",
        email: "ada",
        dated: true,
        module: "key",
      },
    });
  });
});
