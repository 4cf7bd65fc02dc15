import { Writable } from "node:stream";
import type { TerminalStreams } from "./terminal.ts";

/**
 * The standard output for one writer alone. Until it is disposed, what others write there, such as an application's own
 * `console.log`, goes to the standard error.
 */
export function claimOutput({ stdout, stderr }: Pick<TerminalStreams, "stdout" | "stderr">): Writable & Disposable {
  const { write } = stdout;
  const claimed = new Writable({
    write: (chunk: Uint8Array, encoding, done) => void write.call(stdout, chunk, encoding, done),
  });
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return Object.assign(claimed, {
    [Symbol.dispose]: () => {
      stdout.write = write;
    },
  });
}
