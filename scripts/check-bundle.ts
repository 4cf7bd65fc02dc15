/**
 * Bundles the built package as a Cloudflare Worker would, prints its size, and fails if it contains anything of Node.
 *
 *     npm run check:bundle
 */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** As Workers import the package: what is bundled is what was built, found by the exports of package.json. */
const WORKERS = {
  "workflows, hooks and subjects in objects, with a router and HTTP":
    'export { defineWorkflow, defineHook } from "perdure"; export * from "perdure/durable-object";',
  "hooks of a fragment in an object":
    'export { defineFragment, defineHook, instantiate, migrate, createDurableHooksProcessor } from "perdure";' +
    'export * from "perdure/dispatchers/cloudflare-do"; export { durableObject } from "perdure/durable-object";',
  "the client": 'export * from "perdure/client";',
  "everything that runs everywhere":
    'export * from "perdure"; export * from "perdure/durable-object"; export * from "perdure/http";',
};

/** A Worker without compatibility flags has no Node modules. */
function refuseNode(found: Set<string>): Plugin {
  return {
    name: "refuse-node",
    setup({ onResolve }) {
      onResolve({ filter: /^cloudflare:/ }, ({ path }) => ({ path, external: true }));
      onResolve({ filter: /^(node:|pg$|better-sqlite3$)/ }, ({ path, importer }) => {
        found.add(`${path}, imported by ${importer}`);
        return { path, external: true };
      });
    },
  };
}

const found = new Set<string>();
for (const [name, contents] of Object.entries(WORKERS)) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    tsconfigRaw: {}, // without the paths that lead to the sources
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    plugins: [refuseNode(found)],
  });
  const bundle = outputFiles[0]?.contents as Uint8Array;
  console.log(`${name}: ${toKilobytes(bundle.length)} minified, ${toKilobytes(gzipSync(bundle).length)} gzipped`);
}
for (const one of found) console.error(`A Worker can't have ${one}.`);
process.exitCode = found.size === 0 ? 0 : 1;

function toKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
