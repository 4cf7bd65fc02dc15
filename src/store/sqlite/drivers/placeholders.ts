/** Texts, quoted names and comments, in which a question mark is none of ours, and placeholders with the number they have. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?(\d*)/g;

/** A statement with placeholders that have no numbers, and which parameters they stand for. */
export interface Placeholders {
  readonly text: string;
  readonly bind: <Value>(parameters: readonly Value[]) => readonly Value[];
}

/**
 * SQLite's libraries don't agree on `?1`: node:sqlite refuses such placeholders before Node 22.20 and 24.7, and better-sqlite3
 * takes them for names. All of them know `?`, so a statement is given to them with those, and each value as often as it occurs.
 */
export function withoutNumbers(text: string): Placeholders {
  if (!/\?\d/.test(text)) return { text, bind: (parameters) => parameters };
  const order: number[] = [];
  let highest = 0;
  const plain = text.replace(TOKENS, (token, number?: string) => {
    if (number === undefined) return token;
    const position = number === "" ? highest + 1 : Number(number); // as SQLite counts them
    highest = Math.max(highest, position);
    order.push(position - 1);
    return "?";
  });
  const inOrder = order.every((position, index) => position === index);
  return {
    text: plain,
    bind: (parameters) => {
      if (inOrder && parameters.length === highest) return parameters;
      // What is missing, and what is given in addition, is handed on, so that the library refuses it as it always does.
      return [...order.map((index) => parameters[index] as never), ...parameters.slice(highest)];
    },
  };
}
