const NAMES: readonly string[] = ["cloudflare:workers", "cloudflare:workflows"];

/** Beside this file, built or not. */
const target = new URL(import.meta.url.endsWith(".ts") ? "./index.ts" : "./index.js", import.meta.url).href;

/** For Node's module loader: the modules of Cloudflare are ours. */
export function resolve<Context, Resolved>(
  specifier: string,
  context: Context,
  next: (specifier: string, context: Context) => Resolved,
): Resolved | { readonly url: string; readonly shortCircuit: true } {
  return NAMES.includes(specifier) ? { url: target, shortCircuit: true } : next(specifier, context);
}
