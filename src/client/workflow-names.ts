import { NotFoundError, PerdureError } from "../errors.ts";
import type { ClientSettings } from "./client-options.ts";
import type { Transport } from "./transport.ts";

interface ServedWorkflow {
  readonly name: string;
  readonly key: string;
}

/** Translates the keys by which code names workflows to the names under which the server stores instances. */
export class WorkflowNames {
  readonly #given: ClientSettings["names"];
  readonly #transport: Transport;
  #asked: Promise<ReadonlyMap<string, string> | null> | undefined;

  constructor(given: ClientSettings["names"], transport: Transport) {
    this.#given = given;
    this.#transport = transport;
  }

  async find(key: string): Promise<string> {
    if (this.#given !== null) return (Object.hasOwn(this.#given, key) ? this.#given[key] : undefined) ?? key;
    this.#asked ??= this.#ask().catch((error: unknown) => {
      this.#asked = undefined;
      throw error;
    });
    const names = await this.#asked;
    if (names === null) return key;
    const name = names.get(key);
    if (name !== undefined) return name;
    throw new NotFoundError(
      "workflow.not_found",
      `The server has no workflow "${key}"; it has ${[...names.keys()].join(", ")}.`,
    );
  }

  /** Null if the caller may not list workflows: then keys are taken for names. */
  async #ask(): Promise<ReadonlyMap<string, string> | null> {
    try {
      const { body } = await this.#transport.send({ method: "GET", path: ["workflows"] });
      const { workflows } = body as { workflows: ServedWorkflow[] };
      return new Map(workflows.map(({ key, name }) => [key, name]));
    } catch (error) {
      if (error instanceof PerdureError && error.code === "http.forbidden") return null;
      throw error;
    }
  }
}
