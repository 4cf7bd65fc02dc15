import { toError, unreachable } from "../../client/answer-errors.ts";
import { type ClientSettings, parseClientOptions } from "../../client/client-options.ts";
import { type Client, createClient } from "../../client/create-client.ts";
import type { AnyWorkflow } from "../../workflows/define/workflow-types.ts";
import type { BindingOf } from "../../workflows/instances/typed-bindings.ts";
import type { AnyApplication } from "../applications/application-module.ts";

export type AnyClient = Client<{ readonly workflows: Readonly<Record<string, BindingOf<AnyWorkflow>>> }>;

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

interface TargetParts {
  readonly address: string;
  readonly baseUrl: string;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly token: string | null;
  readonly app: AnyApplication | null;
  readonly close: () => Promise<void>;
}

/**
 * The application that a command works on. Commands ask it over HTTP, whether it is on a server or opened by this process: so
 * both answer alike.
 */
export class Target implements AsyncDisposable {
  /** For people; without secrets. */
  readonly address: string;
  /** The application, if this process has opened it. */
  readonly app: AnyApplication | null;
  readonly client: AnyClient;
  readonly #settings: ClientSettings;
  readonly #close: () => Promise<void>;

  constructor({ address, baseUrl, fetch, token, app, close }: TargetParts) {
    // Operators know workflows by the names under which instances are stored, which is what an empty `names` means.
    const options = { baseUrl, fetch, names: {}, retries: app === null ? 2 : 0, ...(token === null ? {} : { token }) };
    this.address = address;
    this.app = app;
    this.client = createClient(options);
    this.#settings = parseClientOptions(options);
    this.#close = close;
  }

  get<Body>(path: readonly string[], query: Query = {}, accepts?: number): Promise<Body> {
    return this.#send("GET", path, { query, accepts }) as Promise<Body>;
  }

  post<Body>(path: readonly string[], body?: unknown): Promise<Body> {
    return this.#send("POST", path, { body }) as Promise<Body>;
  }

  /** A workflow by the name under which its instances are stored. */
  workflow(name: string): BindingOf<AnyWorkflow> {
    return this.client.workflows[name] as BindingOf<AnyWorkflow>;
  }

  /** For requests of others: without an answer of the API, it throws the error that says why. */
  get api(): { readonly baseUrl: string; readonly fetch: (request: Request) => Promise<Response> } {
    return { baseUrl: this.#settings.baseUrl, fetch: (request) => this.#pass(request) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }

  async #pass(request: Request): Promise<Response> {
    const bearer = await this.#settings.token();
    if (bearer !== null) request.headers.set("authorization", `Bearer ${bearer}`);
    const response = await this.#settings.fetch(request).catch((error) => {
      throw unreachable(error);
    });
    if (response.status === 204 || isJson(response)) return response;
    throw await toError(response);
  }

  async #send(
    method: string,
    path: readonly string[],
    {
      query = {},
      body,
      accepts,
    }: { readonly query?: Query; readonly body?: unknown; readonly accepts?: number | undefined },
  ): Promise<unknown> {
    const { baseUrl, token, fetch } = this.#settings;
    const url = new URL(`${baseUrl}/${path.map(encodeURIComponent).join("/")}`);
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value ?? []].flat()) url.searchParams.append(name, String(one));
    }
    const bearer = await token();
    const headers = {
      accept: "application/json",
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(method === "POST" ? { "content-type": "application/json" } : {}),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(new Request(url, { method, headers, redirect: "manual", ...sent })).catch((error) => {
      throw unreachable(error);
    });
    if (!(response.ok || (response.status === accepts && isJson(response)))) throw await toError(response);
    return response.status === 204
      ? null
      : response.json().catch((error: unknown) => Promise.reject(unreachable(error)));
  }
}

function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("application/json") === true;
}
