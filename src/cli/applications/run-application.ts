import { perdure } from "../../app/perdure.ts";
import type { Logger } from "../../logger.ts";
import { type AnyApplication, closeAdapter, loadModule } from "./application-module.ts";

/** The application of a module, with its worker. */
export interface RunningApplication {
  readonly app: AnyApplication;
  /** Waits for running work, and closes the database. */
  readonly stop: (deadlineMs: number) => Promise<void>;
}

export async function runApplication(
  file: string,
  defaults: { readonly logger?: Logger } = {},
): Promise<RunningApplication> {
  const loaded = await loadModule(file);
  if (loaded.kind === "started") return { app: loaded.app, stop: (deadlineMs) => loaded.app.stop({ deadlineMs }) };
  const { options } = loaded;
  const app = await perdure({ ...defaults, ...options });
  const stop = async (deadlineMs: number) => {
    await app.stop({ deadlineMs });
    await closeAdapter(options);
  };
  return { app, stop };
}
