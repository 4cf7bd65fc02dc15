/** What a step of a plan searches by, if it does. The index of a primary key is called so, as in tables that are sorted by it. */
export function searchOf(detail: string): string | undefined {
  const [, search] = / USING (.*)$/.exec(detail) ?? [];
  return search?.replace(/(COVERING )?INDEX sqlite_autoindex_\w+_1/, "PRIMARY KEY");
}
