/**
 * The functions that applications call from SQL run with the rights of the tables' owner, so that a role needs no right on a
 * table: only the owner can execute them until it grants that right. They name everything with its schema.
 */
const DEFINER = "language plpgsql security definer set search_path = pg_catalog, pg_temp";

interface SqlFunction {
  /** With the schema, and with the names, types and defaults of the arguments. */
  readonly signature: string;
  readonly returns: string;
  /** From `declare` or `begin` to `end`. */
  readonly body: string;
  /** Whether a helper writes, or gives another result each time. */
  readonly volatile?: true;
}

/** A function for callers. */
export function callersFunction({ signature, returns, body }: SqlFunction): string[] {
  return [
    `create function ${signature} returns ${returns} ${DEFINER} volatile as $function$\n${body}\n$function$`,
    `revoke all on function ${withoutDefaults(signature)} from public`,
  ];
}

/** A function that only the functions for callers use, with their rights. */
export function helperFunction({ signature, returns, body, volatile }: SqlFunction): string[] {
  return [
    `create function ${signature} returns ${returns} language plpgsql ${volatile ? "volatile" : "stable"} as $function$\n${body}\n$function$`,
    `revoke all on function ${withoutDefaults(signature)} from public`,
  ];
}

function withoutDefaults(signature: string): string {
  return signature.replaceAll(/ default [^,)]+/g, "");
}

/** The database's time in milliseconds, at the call. */
export const CALLED_AT = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
