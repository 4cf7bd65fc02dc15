import { z } from "zod";

/** An OpenAPI document, as far as tests read it. */
export interface Document {
  readonly openapi: string;
  readonly servers: { readonly url: string }[];
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: { readonly name: string; readonly in: string; readonly schema: unknown }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: unknown }> };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: unknown }> }>;
}

export interface Operation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
}

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** The operation that a request is of, by the document alone: paths without parameters come first. */
export function findOperation(document: Document, method: string, pathname: string): Operation {
  const fitting = operationsOf(document)
    .filter((one) => one.method === method && toPattern(one.path).test(pathname))
    .sort((one, other) => one.path.split("{").length - other.path.split("{").length);
  if (fitting[0] === undefined) throw new Error(`The document has no ${method} ${pathname}.`);
  return fitting[0];
}

/** What is wrong with an answer, by the document; null if nothing is. Checked by an independent validator, not by ours. */
export function problemOf(document: Document, operation: Operation, response: Response, text: string): string | null {
  const documented = operation.responses[response.status];
  const where = `${operation.operationId} ${response.status}`;
  if (documented === undefined) return `${where} isn't documented: ${text}`;
  const types = Object.entries(documented.content ?? {});
  if (types.length === 0) return text === "" ? null : `${where} has a body: ${text}`;
  const [type, media] = types.find(([one]) => response.headers.get("content-type")?.startsWith(one)) ?? [];
  if (media === undefined) return `${where} isn't ${types.map(([one]) => one).join(" or ")}`;
  if (type !== "application/json") return null;
  const result = validatorOf(document, media.schema).safeParse(JSON.parse(text));
  return result.success ? null : `${where}: ${z.prettifyError(result.error)} in ${text}`;
}

const validators = new WeakMap<object, z.ZodType>();

function validatorOf(document: Document, schema: unknown): z.ZodType {
  const known = validators.get(schema as object);
  if (known !== undefined) return known;
  const definitions = { ...(schema as object), $defs: document.components.schemas };
  const text = JSON.stringify(definitions).replaceAll("#/components/schemas/", "#/$defs/");
  const validator = z.fromJSONSchema(JSON.parse(text) as Parameters<typeof z.fromJSONSchema>[0]);
  validators.set(schema as object, validator);
  return validator;
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
