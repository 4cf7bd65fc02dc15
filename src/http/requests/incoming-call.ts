import { NO_DETAILS, type RequestDetails } from "../access/request-details.ts";
import { HttpError, invalidRequest } from "../answers/http-error.ts";
import type { Route } from "../routes/route.ts";
import type { Match } from "../routes/router.ts";
import { validate } from "../schemas/validate.ts";
import { boundClones } from "./bounded-clone.ts";
import { type BodyLimits, checkContentType, parseJson, readBody } from "./read-body.ts";
import { checkPathParameters, readQuery } from "./read-parameters.ts";

/** A request to a route. What it sends is read when it is asked for, and once. */
export class IncomingCall {
  readonly request: Request;
  readonly params: Match["params"];
  readonly #route: Route;
  readonly #search: URLSearchParams;
  readonly #limits: BodyLimits;
  readonly #clones: ReturnType<typeof boundClones>;
  #body: Promise<unknown> | undefined;
  /** Why its details could not be read: the policy that asked for them isn't to blame. */
  #refused: unknown;

  constructor({ route, params }: Match, request: Request, search: URLSearchParams, limits: BodyLimits) {
    this.request = request;
    this.params = params;
    this.#route = route;
    this.#search = search;
    this.#limits = limits;
    this.#clones = boundClones(request, limits);
  }

  /** Checked, and so are the names in the path. */
  query(): Readonly<Record<string, unknown>> {
    checkPathParameters(this.#route.params ?? {}, this.params);
    return readQuery(this.#route.query ?? {}, this.#search);
  }

  /** Checked; an empty object if there is none. */
  body(): Promise<unknown> {
    this.#body ??= this.#read();
    return this.#body;
  }

  readonly details = async (): Promise<RequestDetails> => {
    try {
      const sent = { params: this.params, query: this.query(), body: await this.body() };
      return { ...NO_DETAILS, ...this.#route.details?.(sent) };
    } catch (error) {
      this.#refused = error;
      throw error;
    }
  };

  /** Whether an error is one that reading the details of the request threw. */
  isRefusal(error: unknown): boolean {
    return error !== undefined && error === this.#refused;
  }

  /** Waits for a policy. A request that could not be read is refused with the reason, whatever the policy made of it. */
  async withClones<Result>(asked: Promise<Result>): Promise<Result> {
    try {
      return await asked;
    } catch (error) {
      throw this.#clones.exceeded() ?? this.#refused ?? error;
    }
  }

  async #read(): Promise<unknown> {
    const { request } = this;
    const { method, bodyOptional = this.#route.body === undefined } = this.#route;
    if (method === "GET") return {};
    const { headers, bodyUsed } = request;
    const announced = Number(headers.get("content-length") ?? 0) > 0 || headers.has("transfer-encoding");
    if (method === "POST") checkContentType(request, !announced && !bodyUsed);
    if (bodyUsed || (announced && request.body === null)) throw consumed();
    const text = await readBody(request, this.#limits);
    if (text === null && Number(headers.get("content-length") ?? 0) > 0) throw consumed();
    if (text !== null && method === "POST") checkContentType(request, false);
    if (text === null && bodyOptional) return {};
    if (text === null) throw invalidRequest("This route needs a body.");
    return this.#check(parseJson(text));
  }

  #check(body: unknown): unknown {
    const { body: schema = { type: "object", additionalProperties: false } } = this.#route;
    const issues = validate(schema, body, "body");
    if (issues.length === 0) return body;
    throw invalidRequest("The body has fields or values that this route doesn't accept.", issues);
  }
}

/** A fault in the server's own code: a body that was read elsewhere can't be read again. */
function consumed(): HttpError {
  return new HttpError(
    500,
    "http.body_consumed",
    "The request has a body, but other code on the server has read it first. Nothing was done. A policy or middleware must read a clone.",
  );
}
