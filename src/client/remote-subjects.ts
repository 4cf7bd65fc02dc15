import { InvalidInputError, NotFoundError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { SubjectDispatcher, SubjectPage } from "../subjects/subject-dispatcher.ts";
import type { SubjectListOptions, SubjectReference } from "../subjects/subject-inputs.ts";
import type { SubjectState } from "../subjects/subject-state.ts";
import type { Connection } from "./connection.ts";
import { fromWireSubject, textOf, type WireSubject } from "./wire.ts";

/** What a client can do with the subjects of a dispatcher: as in process, for operators. */
export interface ClientSubjectDispatcher
  extends Pick<SubjectDispatcher, "dispatcherId" | "getSubject" | "listSubjects" | "releaseSubject"> {
  /**
   * Makes a subject due now. Throws `subject.leased` if it has an owner, and `subject.retired` if it is no longer discovered.
   */
  makeSubjectDue(subjectKey: string): Promise<void>;
}

export interface ClientSubjects {
  /** The dispatchers that the answering process has defined. */
  dispatcherIds(): Promise<readonly string[]>;
  dispatcher(dispatcherId: string): ClientSubjectDispatcher;
}

/** The subjects of one dispatcher on a server. */
export class RemoteSubjectDispatcher implements ClientSubjectDispatcher {
  readonly dispatcherId: string;
  readonly #connection: Connection;

  constructor(connection: Connection, dispatcherId: string) {
    this.#connection = connection;
    this.dispatcherId = checkSegment(dispatcherId, "The id of a dispatcher");
  }

  async getSubject(subjectKey: string): Promise<SubjectState | null> {
    try {
      const { body } = await this.#connection.send({ method: "GET", path: this.#path(subjectKey) });
      return fromWireSubject(body as WireSubject);
    } catch (error) {
      if (error instanceof NotFoundError && error.code === "subject.not_found") return null;
      throw error;
    }
  }

  async listSubjects(options: SubjectListOptions = {}): Promise<SubjectPage> {
    checkOptions(options, { label: "listSubjects", fields: ["status", "group", "cursor", "limit"] });
    const query = { ...options, limit: textOf(options.limit) };
    const { body } = await this.#connection.send({ method: "GET", path: ["subjects", this.dispatcherId], query });
    const { subjects, cursor } = body as { readonly subjects: readonly WireSubject[]; readonly cursor: string | null };
    return { subjects: subjects.map(fromWireSubject), nextCursor: cursor };
  }

  async releaseSubject({ subjectKey, revision }: SubjectReference): Promise<SubjectState> {
    const path = [...this.#path(subjectKey), "release"];
    const { body } = await this.#connection.send({ method: "POST", path, body: { revision } });
    return fromWireSubject(body as WireSubject);
  }

  async makeSubjectDue(subjectKey: string): Promise<void> {
    await this.#connection.send({ method: "POST", path: [...this.#path(subjectKey), "due"] });
  }

  #path(subjectKey: string): readonly string[] {
    return ["subjects", this.dispatcherId, checkSegment(subjectKey, "The key of a subject")];
  }
}

/** A URL can't contain every name: "." and ".." change the path. */
function checkSegment(name: string, label: string): string {
  if (typeof name === "string" && name !== "" && name !== "." && name !== "..") return name;
  throw new InvalidInputError("subject.invalid", `${label} must be a text that is neither empty nor "." or "..".`);
}
