import { ROUTES } from "../http/routes/index.ts";
import type { Route } from "../http/routes/route.ts";
import type { Schema } from "../http/schemas/schema.ts";

/** A tool as clients see it. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Schema & { readonly type: "object" };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    /** False: it concerns nothing but the application. */
    readonly openWorldHint: false;
  };
}

/** A route, the arguments that it takes as a tool, and where each of them belongs in a request. */
export interface Tool {
  readonly route: Route;
  readonly definition: ToolDefinition;
  /** The names of the arguments that are fields of the body. */
  readonly body: readonly string[];
}

/** The argument for the header `Idempotency-Key`. */
export const KEY_ARGUMENT = "idempotencyKey";

const KEY: Schema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description: "Repeat a call with the same key if its answer is lost: it takes effect once. Visible ASCII characters.",
};

/**
 * All tools. What other systems need isn't one: streams, checks of a load balancer, and tokens, which are permissions in
 * themselves.
 */
export function createTools(): readonly Tool[] {
  return ROUTES.filter((route) => route.public === undefined && !isStream(route)).map(toTool);
}

export function isReadOnly({ operation }: Route): boolean {
  return operation === "read";
}

function isStream({ answers }: Route): boolean {
  return Object.values(answers).some(({ contentType }) => contentType === "text/event-stream");
}

function toTool(route: Route): Tool {
  const { name, summary, params = {}, query = {}, repeatable = false } = route;
  const body = bodyOf(route);
  const groups = [params, query, body.properties, repeatable ? { [KEY_ARGUMENT]: KEY } : {}];
  const properties = Object.fromEntries(groups.flatMap((group) => Object.entries(group)));
  if (Object.keys(properties).length < groups.flatMap((group) => Object.keys(group)).length) {
    throw new Error(`${name} can't be a tool: two of its arguments would have the same name.`);
  }
  const required = [...Object.keys(params), ...body.required];
  const readOnly = isReadOnly(route);
  return {
    route,
    body: Object.keys(body.properties),
    definition: {
      name,
      title: toTitle(name),
      description: summary,
      inputSchema: { type: "object", properties, required, additionalProperties: false },
      annotations: {
        readOnlyHint: readOnly,
        destructiveHint: !readOnly && route.destructive !== false,
        openWorldHint: false,
      },
    },
  };
}

/**
 * The fields of a body. If there are several kinds, all of their fields are arguments, and the route refuses a wrong
 * combination.
 */
function bodyOf({ name, body = {} }: Route): Required<Pick<Schema, "properties" | "required">> {
  const kinds = body.anyOf ?? [body];
  if (body.anyOf !== undefined && kinds.some(({ properties }) => properties === undefined)) {
    throw new Error(`${name} can't be a tool: its body isn't an object.`);
  }
  const properties = Object.assign({}, ...kinds.map((kind) => kind.properties ?? {})) as Record<string, Schema>;
  const required = Object.keys(properties).filter((field) => kinds.every((kind) => kind.required?.includes(field)));
  return { properties, required };
}

/** `listWorkflows` is "List workflows". */
function toTitle(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
