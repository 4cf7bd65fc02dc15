export { load } from "./load-hook.ts"; // older Nodes take both hooks from one file

/** Beside this file, built or not. */
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const ours = (name: string) => new URL(`./${name}.${extension}`, import.meta.url).href;

const MODULES: ReadonlyMap<string, string> = new Map([
  ["cloudflare:workers", ours("index")],
  ["cloudflare:workflows", ours("index")],
  ["cloudflare:email", ours("email")],
  ["cloudflare:sockets", ours("sockets")],
]);

/** A specifier that can only name a folder: `.`, `..`, `./lib/`. */
const FOLDER = /(^|\/)\.{0,2}$/;

/** How Node says that there is no such file. */
const NOT_FOUND: readonly unknown[] = ["ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT", "MODULE_NOT_FOUND"];

interface ResolveContext {
  readonly parentURL?: string | undefined;
}

interface Found {
  readonly url: string;
  readonly shortCircuit: true;
}

type Next<Context, Resolved> = (specifier: string, context: Context) => Resolved;

/**
 * For Node's module loader. Cloudflare's modules are ours, and files import each other as Cloudflare's bundler lets them:
 * without an extension, by the name of a folder with an index, with `.js` where the file is `.ts`, or as JSON.
 */
export function resolve<Context extends ResolveContext, Resolved>(
  specifier: string,
  context: Context,
  next: Next<Context, Resolved>,
): Resolved | Found {
  const url = MODULES.get(specifier);
  if (url !== undefined) return { url, shortCircuit: true };
  if (specifier.startsWith("cloudflare:")) throw missingModule(specifier);
  const own = /^\.\.?(\/|$)/.test(specifier) && !context.parentURL?.includes("/node_modules/");
  if (!own) return next(specifier, context);
  const resolved = firstOf([specifier, ...alternatives(specifier)], context, next);
  return specifier.endsWith(".json") ? asJson(resolved) : resolved;
}

/** Node asks for `with { type: "json" }`; Cloudflare's bundler doesn't. */
function asJson<Resolved>(resolved: Resolved): Resolved {
  if (resolved instanceof Promise) return resolved.then(asJson) as Resolved;
  return { ...resolved, importAttributes: { type: "json" } };
}

/** The candidates that a bundler would try, in its order. */
function alternatives(specifier: string): string[] {
  const [, stem, kind] = /^(.*)\.([cm]?)jsx?$/.exec(specifier) ?? [];
  if (stem !== undefined) return [`${stem}.${kind}ts`];
  const names = ["ts", "js", "mts", "mjs"];
  const files = FOLDER.test(specifier) ? [] : [...names.map((name) => `${specifier}.${name}`), `${specifier}.d.ts`];
  const folder = specifier.replace(/\/$/, "");
  return [...files, ...names.map((name) => `${folder}/index.${name}`)];
}

/** The first that is found; the error of the first of all, if none is. The loader of older Nodes answers with promises. */
function firstOf<Context, Resolved>(
  specifiers: readonly string[],
  context: Context,
  next: Next<Context, Resolved>,
  first?: { readonly error: unknown },
): Resolved {
  const [specifier, ...others] = specifiers;
  if (specifier === undefined) throw first?.error;
  const otherwise = (error: unknown): Resolved => {
    if (!NOT_FOUND.includes(Reflect.get(Object(error), "code"))) throw error;
    return firstOf(others, context, next, first ?? { error });
  };
  let resolved: Resolved;
  try {
    resolved = next(specifier, context);
  } catch (error) {
    return otherwise(error);
  }
  return resolved instanceof Promise ? (resolved.catch(otherwise) as Resolved) : resolved;
}

function missingModule(specifier: string): Error {
  const known = [...MODULES.keys()].join(", ");
  return Object.assign(
    new Error(
      `"${specifier}" doesn't exist on Node: perdure/register provides ${known}. Import it only on Cloudflare.`,
    ),
    { code: "cloudflare.module_missing" },
  );
}
