import { NotFoundError, PerdureError } from "../errors.ts";
import type { ClientSettings } from "./client-options.ts";
import type { Connection } from "./connection.ts";

interface ServedWorkflow {
  readonly name: string;
  readonly key: string;
}

/** Translates the keys by which code names workflows to the names under which the server stores instances. */
export class WorkflowNames {
  readonly #given: ClientSettings["names"];
  readonly #connection: Connection;
  #asked: Promise<ReadonlyMap<string, string> | null> | undefined;

  constructor(given: ClientSettings["names"], connection: Connection) {
    this.#given = given;
    this.#connection = connection;
  }

  async find(key: string): Promise<string> {
    if (this.#given !== null) return (Object.hasOwn(this.#given, key) ? this.#given[key] : undefined) ?? key;
    const names = await this.#ask();
    if (names === null) return key;
    const name = names.get(key);
    if (name !== undefined) return name;
    throw new NotFoundError(
      "workflow.not_found",
      `The server has no workflow "${key}"; it has ${[...names.keys()].join(", ")}.`,
    );
  }

  /**
   * The same, but a text that isn't a key is a name: operators can manage instances of workflows whose code the server lacks.
   */
  async findStored(workflow: string): Promise<string> {
    const names = this.#given === null ? await this.#ask() : new Map(Object.entries(this.#given));
    return names?.get(workflow) ?? workflow;
  }

  #ask(): Promise<ReadonlyMap<string, string> | null> {
    this.#asked ??= this.#list().catch((error: unknown) => {
      this.#asked = undefined;
      throw error;
    });
    return this.#asked;
  }

  /** Null if the caller may not list workflows: then keys are taken for names. */
  async #list(): Promise<ReadonlyMap<string, string> | null> {
    try {
      const { body } = await this.#connection.send({ method: "GET", path: ["workflows"] });
      const { workflows } = body as { workflows: ServedWorkflow[] };
      return new Map(workflows.map(({ key, name }) => [key, name]));
    } catch (error) {
      if (error instanceof PerdureError && error.code === "http.forbidden") return null;
      throw error;
    }
  }
}
