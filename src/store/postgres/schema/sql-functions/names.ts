import type { SchemaPrefix } from "../../sql/statement.ts";

/** Of hooks, namespaces, instances and events, as in TypeScript. */
export const NAME_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9_.:-]*$";
export const NAMES = "letters, digits and . : _ - that don''t start with . : or -";
/** Of workflows. */
export const WORKFLOW_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9_-]*$";
export const WORKFLOW_NAMES = "letters, digits, _ and - that don''t start with -";

/** The namespace that `given` names: that of `perdure()` unless it was given another. */
export const NAMESPACE = (schema: SchemaPrefix) =>
  `${schema}check_name('options.namespace', coalesce(given ->> 'namespace', 'app'), '${NAME_PATTERN}', 100, '${NAMES}', 'name.invalid')`;
