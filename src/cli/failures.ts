import { ConflictError, InvalidInputError, NotFoundError, PerdureError, SchemaError, StoreError } from "../errors.ts";
import { ExitCode } from "./exit-codes.ts";
import { hideSecrets } from "./targets/secrets.ts";

/** A failure of a command, with the step that helps. */
export class CommandError extends PerdureError {
  readonly exitCode: ExitCode;
  /** What to do next, in one sentence. */
  readonly next: string | null;

  constructor(code: string, message: string, { exitCode, next }: { exitCode: ExitCode; next?: string }) {
    super(code, message);
    this.exitCode = exitCode;
    this.next = next ?? null;
  }
}

export function usageError(message: string, next?: string): CommandError {
  return new CommandError("cli.usage", message, { exitCode: ExitCode.usage, ...(next === undefined ? {} : { next }) });
}

/** The message that a user sees for an error, and the exit code. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly next: string | null;
  readonly exitCode: ExitCode;
}

/** What helps, by the code of the error. */
const NEXT: Readonly<Record<string, string>> = {
  "client.unreachable":
    "Check the address, and that the server runs; --server takes the URL at which createHttpHandler is mounted.",
  "client.unexpected_answer":
    "Check that --server is the URL at which createHttpHandler is mounted, base path included.",
  "http.unauthenticated": "Pass a token with --token-file or the variable PERDURE_TOKEN.",
  "http.forbidden": "Use a token that may do this.",
  "http.not_found": "Check that --server is the URL at which createHttpHandler is mounted, base path included.",
  "instance.not_found": "List what there is: perdure workflows list.",
  "hook.not_found": "Completed hooks are deleted. List what there is: perdure hooks list.",
  "subject.not_found": "List what there is: perdure subjects list.",
  "schedule.not_found": "List what there is: perdure schedules list.",
  "workflow.not_found":
    "List what there is: perdure workflows counts. What creates instances needs the code: pass it with --app app.ts, or use --server.",
  "instance.finished": "To run it again: perdure workflows restart.",
  "store.not_migrated": "Create the tables: perdure migrate.",
  "schema.too_new": "Upgrade perdure to the version that migrated the database.",
};

/** Without passwords and tokens, which errors of drivers may contain. */
export function describeFailure(error: unknown): Failure {
  const failure = describe(error);
  return { ...failure, message: hideSecrets(failure.message) };
}

function describe(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { code, message, next, exitCode } = error;
    return { code, message, next, exitCode };
  }
  if (!(error instanceof PerdureError)) {
    const code = typeof (error as NodeJS.ErrnoException)?.code === "string" ? (error as { code: string }).code : "";
    return { code, message: messageOf(error), next: null, exitCode: ExitCode.failed };
  }
  const { code } = error;
  const message = (error instanceof NotFoundError ? error.details : undefined) ?? messageOf(error);
  return { code, message, next: NEXT[code] ?? nextOf(error), exitCode: exitCodeOf(error) };
}

function nextOf(error: PerdureError): string | null {
  return error instanceof StoreError ? "Check the database with: perdure doctor." : null;
}

function exitCodeOf(error: PerdureError): ExitCode {
  const { code } = error;
  if (code === "client.unreachable" || code === "client.unexpected_answer") return ExitCode.unreachable;
  if (code === "http.unauthenticated" || code === "http.forbidden") return ExitCode.forbidden;
  if (error instanceof NotFoundError) return ExitCode.notFound;
  if (error instanceof ConflictError) return ExitCode.conflict;
  if (error instanceof InvalidInputError) return ExitCode.usage;
  if (error instanceof SchemaError) return ExitCode.problem;
  if (error instanceof StoreError || code === "http.unavailable") return ExitCode.unreachable;
  return ExitCode.failed;
}

/** The first cause often says which address, or which user. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const first = firstCauseOf(error);
  const detail = first.message || (first as NodeJS.ErrnoException).code;
  return detail && !error.message.includes(detail) ? `${error.message} (${detail})` : error.message;
}

function firstCauseOf(error: Error): Error {
  const seen = new Set<Error>();
  let first = error;
  while (first.cause instanceof Error && !seen.has(first)) {
    seen.add(first);
    first = first.cause;
  }
  return first;
}
