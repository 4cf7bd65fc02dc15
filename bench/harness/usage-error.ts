/** A command line that can't be run. Says what is accepted. */
export class UsageError extends Error {
  constructor(problem: string, accepted: string) {
    super(`bench: ${problem}; accepted is ${accepted}.
usage: npm run bench -- hooks|workflows [--short] [--json] [--chart file.svg] [--sweep] [--rounds n] [--engine sqlite|postgres] [--only "<work>"]...
       npm run bench -- growth [--short] [--json] [--chart file.svg] [--engine sqlite|postgres] [--finished n] [--sleeping n]
       npm run bench -- idle [--short] [--json] [--chart file.svg] [--engine sqlite|postgres]
       npm run bench -- snapshot [--short] [--json] [--chart file.svg] [--seconds n]
       npm run bench -- workerd [--short] [--json] [--chart file.svg]`);
    this.name = "UsageError";
  }
}
