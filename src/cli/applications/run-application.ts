import { perdure } from "../../app/perdure.ts";
import type { Logger } from "../../logger.ts";
import { type AnyApplication, loadModule } from "./application-module.ts";

/** Starts the application of a module, with its worker. */
export async function runApplication(
  file: string,
  defaults: { readonly logger?: Logger } = {},
): Promise<AnyApplication> {
  const loaded = await loadModule(file);
  return loaded.kind === "started" ? loaded.app : await perdure({ ...defaults, ...loaded.options });
}
