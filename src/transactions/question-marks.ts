export interface NumberlessStatement {
  readonly text: string;
  readonly parameters: (string | null)[];
}

/** For libraries whose placeholder is `?`: a parameter is given again wherever its number stands. */
export function toQuestionMarks(text: string, parameters: readonly (string | null)[]): NumberlessStatement {
  const given: (string | null)[] = [];
  const replaced = text.replaceAll(/\$(\d+)/g, (_, number: string) => {
    given.push(parameters[Number(number) - 1] ?? null);
    return "?";
  });
  return { text: replaced, parameters: given };
}
