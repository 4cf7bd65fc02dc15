/** Progress, for people. Always on stderr: stdout is for the results alone. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
