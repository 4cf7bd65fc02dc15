/**
 * Loads the test kit and a test into a realm of its own, as jest does: every module that isn't Node's is evaluated there, so
 * that its Date, Error, Promise and Uint8Array aren't those that Node's own modules give and take.
 */
import { readFileSync } from "node:fs";
import { isBuiltin, stripTypeScriptTypes } from "node:module";
import { createContext, type Module, SourceTextModule, SyntheticModule } from "node:vm";

const { Buffer, console, crypto, performance, process, queueMicrotask, setImmediate, setTimeout, clearTimeout } =
  globalThis;
const { AbortController, AbortSignal, ReadableStream, TextDecoder, TextEncoder, atob, btoa, URL } = globalThis;
const context = createContext({
  ...{ Buffer, console, crypto, performance, process, queueMicrotask, setImmediate, setTimeout, clearTimeout },
  ...{ AbortController, AbortSignal, ReadableStream, TextDecoder, TextEncoder, atob, btoa, URL },
});
const modules = new Map<string, Promise<Module>>();

function load(specifier: string, from: string): Promise<Module> {
  const identifier = isBuiltin(specifier) ? specifier : resolve(specifier, from);
  const known = modules.get(identifier) ?? create(identifier);
  modules.set(identifier, known);
  return known;
}

/** What isn't a path is a package. */
function resolve(specifier: string, from: string): string {
  return /^(\.|file:)/.test(specifier) ? new URL(specifier, from).href : import.meta.resolve(specifier);
}

async function create(identifier: string): Promise<Module> {
  return isBuiltin(identifier) ? createBuiltin(identifier) : createSource(identifier);
}

async function createBuiltin(identifier: string): Promise<Module> {
  const exported = (await import(identifier)) as Record<string, unknown>;
  const names = Object.keys(exported);
  const module = new SyntheticModule(
    names,
    () => {
      for (const name of names) module.setExport(name, exported[name]);
    },
    { context, identifier },
  );
  return module;
}

function createSource(identifier: string): Module {
  const source = readFileSync(new URL(identifier), "utf8");
  const text = identifier.endsWith(".ts") ? stripTypeScriptTypes(source) : source;
  return new SourceTextModule(text, {
    context,
    identifier,
    importModuleDynamically: async (specifier: string) => {
      const module = await load(specifier, identifier);
      await module.link((next, { identifier: from }) => load(next, from));
      await module.evaluate();
      return module;
    },
  });
}

const test = await load(new URL("./realm-test.ts", import.meta.url).href, import.meta.url);
await test.link((specifier, { identifier }) => load(specifier, identifier));
await test.evaluate();
