import type { Codec } from "../../../src/index.ts";
import type { DatabaseAdapter } from "../../../src/store/store.ts";
import { LogBook } from "../../hooks/support/log-book.ts";
import type { ControlledClock } from "../../support/controlled-clock.ts";
import type { TestStore } from "../../support/engines.ts";
import { BACKWARDS, NEW } from "./keys.ts";

/** After this time what can't be read is tried again. */
export const MINUTE = 60_000;

/** What a process meets that can't read what another has written, and the code that it is told. */
export const UNABLE: readonly { readonly why: string; readonly codec: Codec | undefined; readonly code: string }[] = [
  { why: "that lacks the key", codec: NEW, code: "codec.key_missing" },
  { why: "without a codec", codec: undefined, code: "codec.missing" },
  {
    why: "with another codec",
    codec: { ...BACKWARDS, decode: () => Promise.reject(new Error("no")) },
    code: "codec.failed",
  },
  { why: "whose codec gives no text", codec: { ...BACKWARDS, decode: () => 5 as never }, code: "codec.failed" },
];

/** Another connection to the database of a test, with this codec. */
export function openWith(
  { database, clock }: { readonly database: TestStore | undefined; readonly clock: ControlledClock },
  codec: Codec | undefined,
  logger: LogBook = new LogBook(),
): DatabaseAdapter {
  if (database === undefined) throw new Error("There is no database.");
  return database.reopen({ clock, logger, ...(codec && { codec }) });
}
