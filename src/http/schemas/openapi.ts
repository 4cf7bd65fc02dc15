import type { AnswerDefinition, Route } from "../routes/route.ts";
import { ERROR } from "./common-schemas.ts";
import { nameOf, type Schema } from "./schema.ts";

type Json = Record<string, unknown>;

/** The version of the interface: it rises when clients of an older one would fail. */
const VERSION = "1";

const ERRORS: Readonly<Record<number, string>> = {
  400: "The route doesn't accept the request.",
  401: "The request has no valid credentials.",
  403: "The caller isn't allowed to do this.",
  404: "It doesn't exist.",
  405: "The path doesn't take this method.",
  408: "The body took too long.",
  409: "It contradicts what is stored. Nothing was changed.",
  413: "The body, or a value in it, is too large.",
  415: "The body isn't JSON.",
  429: "The caller has too many requests or streams under way. Try again later.",
  500: "The server failed.",
  503: "The database can't be used at present, or there are too many streams. Try again later.",
};

/** The statuses of errors that any route may answer with; those that ask the database, or have a body, have some more. */
const COMMON_ERRORS = [400, 401, 403, 429, 500];
const DATABASE_ERRORS = [503];
const BODY_ERRORS = [408, 413, 415];

/** Describes routes from the definitions that serve them. */
export function createDocument(routes: readonly Route[], basePath: string): Json {
  const writer = new DocumentWriter();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = writer.operation(route);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: { title: "Perdure", version: VERSION },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: writer.schemas(),
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "Or other credentials that the application's policy accepts.",
        },
      },
    },
  };
}

class DocumentWriter {
  readonly #schemas = new Map<string, Json>();

  operation(route: Route): Json {
    const { name, summary, params = {}, query = {}, repeatable = false } = route;
    const parameters = [
      ...Object.entries(params).map(([field, schema]) => this.#parameter("path", field, schema)),
      ...Object.entries(query).map(([field, schema]) => this.#parameter("query", field, schema)),
      ...Object.entries(route.headers ?? {}).map(([field, schema]) => this.#parameter("header", field, schema)),
      ...(repeatable ? [this.#parameter("header", "Idempotency-Key", KEY)] : []),
    ];
    return {
      operationId: name,
      summary,
      description: `Needs the permission ${[route.operation, route.alsoNeeds ?? []].flat().join(" and ")}.`,
      ...(parameters.length === 0 ? {} : { parameters }),
      ...this.#requestBody(route),
      responses: this.#responses(route),
    };
  }

  schemas(): Json {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #parameter(place: string, name: string, schema: Schema): Json {
    return { name, in: place, required: place === "path", schema: this.#schema(schema) };
  }

  #requestBody({ method, body, bodyOptional = false }: Route): Json {
    if (method !== "POST" || body === undefined) return {};
    return {
      requestBody: { required: !bodyOptional, content: { "application/json": { schema: this.#schema(body) } } },
    };
  }

  #responses({ answers, errors = [], method, asksDatabase = true }: Route): Json {
    const ofBody = method === "POST" ? BODY_ERRORS : [];
    const statuses = new Set([...COMMON_ERRORS, ...ofBody, ...(asksDatabase ? DATABASE_ERRORS : []), ...errors]);
    const successes = Object.entries(answers).map(([status, answer]) => [status, this.#answer(answer)] as const);
    const failures = [...statuses].sort().map((status) => {
      const description = ERRORS[status] as string;
      return [String(status), this.#answer({ description, schema: ERROR })] as const;
    });
    return Object.fromEntries([...successes, ...failures]);
  }

  #answer({ description, schema, contentType = "application/json" as never, texts = [] }: AnswerDefinition): Json {
    if (schema === undefined) return { description };
    const asText = texts.map((type) => [type, { schema: { type: "string" } }]);
    return { description, content: { [contentType]: { schema: this.#schema(schema) }, ...Object.fromEntries(asText) } };
  }

  /** A named schema is written once, and referred to by its name everywhere else. */
  #schema(schema: Schema): Json {
    const name = nameOf(schema);
    if (name === undefined) return this.#inline(schema);
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {}); // ends the recursion of a schema that contains itself
      this.#schemas.set(name, this.#inline(schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #inline(schema: Schema): Json {
    const { items, properties, additionalProperties, anyOf, ...rest } = schema;
    return {
      ...rest,
      ...(items === undefined ? {} : { items: this.#schema(items) }),
      ...(properties === undefined ? {} : { properties: this.#each(properties) }),
      ...(additionalProperties === undefined ? {} : { additionalProperties: this.#rest(additionalProperties) }),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map((one) => this.#schema(one)) }),
    };
  }

  #each(properties: Readonly<Record<string, Schema>>): Json {
    return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, this.#schema(schema)]));
  }

  #rest(additional: boolean | Schema): unknown {
    return typeof additional === "boolean" ? additional : this.#schema(additional);
  }
}

const KEY: Schema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description:
    "Makes the request repeatable: sent again with the same key, it has no further effect and gets the same answer.",
};
