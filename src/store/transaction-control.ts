import { PerdureError } from "../errors.ts";

/** Statements that begin or end a transaction. Savepoints stay inside one. */
const CONTROL =
  /^(begin|commit|end|abort|start\s+transaction|prepare\s+transaction|rollback(?!(\s+(work|transaction))?\s+to\b))\b/i;

/** A comment, a quoted text or name, or a text between dollar signs: what is inside isn't SQL. */
const SKIPPED =
  /^(--[^\n]*|\/\*[\s\S]*?(\*\/|$)|e'(\\[\s\S]|[^'\\])*('|$)|'[^']*('|$)|"[^"]*("|$)|`[^`]*(`|$)|\[[^\]]*(\]|$))/i;
const DOLLAR_QUOTE = /^\$([a-z_]\w*)?\$/i;

/**
 * Throws if one of the statements in the text would begin or end a transaction: the one that it is part of is ended by Perdure,
 * with its own last statement.
 */
export function refuseTransactionControl(text: string): void {
  for (const statement of statementsOf(text)) {
    const control = CONTROL.exec(statement)?.[0];
    if (control !== undefined) throw controlRefused(control.toUpperCase().replace(/\s+/g, " "));
  }
}

function controlRefused(statement: string): PerdureError {
  return new PerdureError(
    "transaction.control_refused",
    `${statement} was refused: Perdure begins this transaction, and commits it when its function returns. Throw an error to roll it ` +
      "back. To undo a part of it, use savepoints (SAVEPOINT, ROLLBACK TO, RELEASE).",
  );
}

/** The transaction was ended by other means than statements that could be refused. */
export function endedByBody(): PerdureError {
  return new PerdureError(
    "transaction.control_refused",
    "The function has ended its transaction itself, so its step or hook could not be written with it. Perdure begins and commits the " +
      "transaction: leave out BEGIN, COMMIT and ROLLBACK, and throw an error to roll it back.",
  );
}

export function transactionFinished(): PerdureError {
  return new PerdureError(
    "transaction.finished",
    "The transaction is over: await every call that uses it before its function returns.",
  );
}

/** The statements of a text, without comments and without what is quoted. */
function statementsOf(text: string): string[] {
  if (!text.includes(";") && /^\s*[a-z]/i.test(text)) return [text.trimStart()]; // as most
  const statements: string[] = [];
  let statement = "";
  for (let rest = text; rest !== ""; ) {
    const length = skippedLength(rest);
    if (length > 0) statement += " ";
    else if (rest.startsWith(";")) {
      statements.push(statement.trimStart());
      statement = "";
    } else statement += rest[0];
    rest = rest.slice(Math.max(length, 1));
  }
  return [...statements, statement.trimStart()];
}

function skippedLength(text: string): number {
  const skipped = SKIPPED.exec(text)?.[0];
  if (skipped !== undefined) return skipped.length;
  const quote = DOLLAR_QUOTE.exec(text)?.[0];
  if (quote === undefined) return 0;
  const end = text.indexOf(quote, quote.length);
  return end < 0 ? text.length : end + quote.length;
}
