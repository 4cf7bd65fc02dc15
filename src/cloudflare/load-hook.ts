import { typeExportsOf } from "./type-exports.ts";

interface Loaded {
  readonly format?: string | null | undefined;
  readonly source?: unknown;
}

type Next<Context, Result> = (url: string, context: Context) => Result;

/**
 * For Node's module loader. Code for Cloudflare imports types of its own files without saying `type`, because a bundler drops
 * such imports. Node, which only strips types, keeps them, so the types must be there.
 */
export function load<Context, Result extends Loaded | Promise<Loaded>>(
  url: string,
  context: Context,
  next: Next<Context, Result>,
): Result {
  const loaded = next(url, context);
  if (url.includes("/node_modules/")) return loaded;
  return (loaded instanceof Promise ? loaded.then(withTypeExports) : withTypeExports(loaded)) as Result;
}

/** Another loader, such as tsx, has made JavaScript of the file, and knows which imports to drop. */
function withTypeExports<Result extends Loaded>(loaded: Result): Result {
  const { format, source } = loaded;
  if (!format?.endsWith("-typescript") || !(typeof source === "string" || source instanceof Uint8Array)) return loaded;
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  const types = typeExportsOf(text);
  // Without its types, the file may have nothing left by which Node would take it for a module.
  return types === "" ? loaded : { ...loaded, format: "module-typescript", source: text + types };
}
