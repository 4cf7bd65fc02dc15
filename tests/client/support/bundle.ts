import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const refuseNode: Plugin = {
  name: "refuse-node",
  setup({ onResolve }) {
    onResolve({ filter: /^(node:|cloudflare:)/ }, ({ path }) => ({ errors: [{ text: `It needs ${path}.` }] }));
  },
};

/**
 * One script of a program that uses the client: what it needs of Node, it doesn't get. As `iife` it is the global `program`.
 */
export async function bundle(contents: string, format: "esm" | "iife"): Promise<string> {
  const stdin = { contents, resolveDir: root };
  const options = { bundle: true, write: false, platform: "browser", globalName: "program" } as const;
  const { outputFiles } = await build({ ...options, stdin, format, plugins: [refuseNode] });
  return outputFiles[0]?.text ?? "";
}
