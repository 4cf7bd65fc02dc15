import { InvalidInputError } from "../errors.ts";
import { checkId, LONGEST_ID } from "../names.ts";
import type { EventPayloads } from "../workflows/define/workflow-event.ts";
import type {
  BatchError,
  BatchOptions,
  CreatedBatch,
  CreatedOrSent,
  CreateOptions,
  CreateOrSendOptions,
  DeletedBatch,
  RestartedInstance,
  RestartOptions,
} from "../workflows/instances/create/create-options.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import { inBatches, type SentBatch } from "../workflows/instances/sent-batches.ts";
import type {
  CountOptions,
  InstanceCounts,
  InstanceListOptions,
  InstancePage,
  LabelledEvent,
  SentToAll,
  VersionSummary,
  WorkflowBinding,
} from "../workflows/instances/workflow-binding.ts";
import type { Connection } from "./connection.ts";
import { offerInstance } from "./remote-instance.ts";
import type { Answered, ClientRequest } from "./transport.ts";
import { fromWirePage, toCountQuery, toListQuery, toWireEvent, toWireOptions, type WirePage } from "./wire.ts";

type Options = CreateOptions<unknown>;

const ID = "The id of an instance";
/** The most that any server takes; by default servers take fewer. */
const MOST_IN_BATCH = 1000;

/** A workflow on a server. `findName` gives the name under which its instances are stored there. */
export class RemoteBinding implements WorkflowBinding<unknown, unknown, EventPayloads> {
  readonly #connection: Connection;
  readonly #findName: () => Promise<string>;

  constructor(connection: Connection, findName: () => Promise<string>) {
    this.#connection = connection;
    this.#findName = findName;
  }

  /** A repeated request has the same key, so nothing is created twice. */
  async create(options: Options = {}): Promise<WorkflowInstance> {
    const { body } = await this.#post([], toWireOptions(options));
    return this.#instance((body as { id: string }).id);
  }

  createBatch(batch: readonly Options[]): Promise<WorkflowInstance[]>;
  createBatch(batch: BatchOptions<unknown>): Promise<CreatedBatch>;
  async createBatch(batch: readonly Options[] | BatchOptions<unknown>): Promise<WorkflowInstance[] | CreatedBatch> {
    const { created, errors } = await this.#createBatch(toInstances(batch));
    if (!Array.isArray(batch)) return { created, errors };
    const refused = errors.find(({ code }) => code !== "instance.already_exists");
    if (refused !== undefined) throw new InvalidInputError(refused.code, refused.message);
    return created;
  }

  async restartOrCreate({ id, ...options }: RestartOptions<unknown>): Promise<RestartedInstance> {
    checkId(id, ID, LONGEST_ID);
    const when = typeof options.when === "string" && !WORDS.includes(options.when) ? [options.when] : options.when;
    const sent = toWireOptions({ ...options, ...(when === undefined ? {} : { when }) });
    const { body } = await this.#post([id, "restart-or-create"], sent);
    const { outcome } = body as Pick<RestartedInstance, "outcome">;
    return { instance: await this.#instance(id), outcome };
  }

  async createOrSend({ id, event, ...options }: CreateOrSendOptions<unknown, string, unknown>): Promise<CreatedOrSent> {
    checkId(id, ID, LONGEST_ID);
    const { body } = await this.#post([id, "create-or-send"], { ...toWireOptions(options), event: toWireEvent(event) });
    return { instance: await this.#instance(id), outcome: (body as Pick<CreatedOrSent, "outcome">).outcome };
  }

  /** One request for each batch. All have the same event id, so that a repeated request sends nothing twice. */
  async sendEventToAll({ labels, ...event }: LabelledEvent<string, unknown>): Promise<SentToAll> {
    const path = ["workflows", await this.#findName(), "events"];
    const sent = { ...toWireEvent({ id: crypto.randomUUID(), ...event }), labels };
    return inBatches(async (cursor) => {
      const whole = cursor === null ? sent : { ...sent, cursor };
      return (await this.#connection.send({ method: "POST", path, body: whole })).body as SentBatch;
    });
  }

  async deleteBatch(ids: readonly string[]): Promise<DeletedBatch> {
    if (Array.isArray(ids) && ids.length === 0) return { deleted: [], errors: [] };
    const { body, repeated } = await this.#post(["batch", "delete"], { ids });
    const { deleted, errors } = body as DeletedBatch;
    if (!repeated) return { deleted, errors };
    // This request itself may have deleted the missing instances, if the first answer was lost.
    const gone = errors.filter(({ code }) => code === "instance.not_found");
    const others = errors.filter((error) => !gone.includes(error));
    return { deleted: [...deleted, ...gone.map(({ id = "" }) => ({ id }))], errors: others };
  }

  async get(id: string): Promise<WorkflowInstance> {
    const instance = await this.#instance(id);
    await this.#send({ method: "GET" }, [id]);
    return instance;
  }

  async list(options: InstanceListOptions = {}): Promise<InstancePage> {
    const { body } = await this.#send({ method: "GET", query: toListQuery(options) }, []);
    return fromWirePage(body as WirePage);
  }

  async counts(options: CountOptions = {}): Promise<InstanceCounts> {
    const name = await this.#findName();
    const { body } = await this.#connection.send({ method: "GET", path: ["stats"], query: toCountQuery(options) });
    const { instances } = body as { instances: { workflows: Record<string, InstanceCounts> } };
    return instances.workflows[name] as InstanceCounts;
  }

  async versions(): Promise<VersionSummary[]> {
    const path = ["workflows", await this.#findName(), "versions"];
    const { body } = await this.#connection.send({ method: "GET", path });
    return (body as { versions: VersionSummary[] }).versions;
  }

  async #createBatch(instances: readonly Options[]): Promise<{ created: WorkflowInstance[]; errors: BatchError[] }> {
    if (instances.length === 0) return { created: [], errors: [] };
    const { body } = await this.#post(["batch"], { instances: instances.map(toWireOptions) });
    const { created, errors } = body as { created: { id: string }[]; errors: BatchError[] };
    return { created: await Promise.all(created.map(({ id }) => this.#instance(id))), errors };
  }

  async #instance(id: string): Promise<WorkflowInstance> {
    checkId(id, ID, LONGEST_ID); // a URL can't contain every id: "." and ".." change the path
    return offerInstance(this.#connection.lasting, await this.#findName(), id);
  }

  #post(part: readonly string[], body: unknown): Promise<Answered> {
    return this.#send({ method: "POST", body }, part);
  }

  async #send(request: Omit<ClientRequest, "path">, part: readonly string[]): Promise<Answered> {
    return this.#connection.send({ ...request, path: ["workflows", await this.#findName(), "instances", ...part] });
  }
}

/** Values of `when` that stand for several states. */
const WORDS: readonly string[] = ["finished", "always"];

function toInstances(batch: readonly Options[] | BatchOptions<unknown>): readonly Options[] {
  if (Array.isArray(batch)) return batch;
  const { instances, count, ...alike } = batch as { instances?: readonly Options[]; count: number } & Options;
  if (instances !== undefined) return instances;
  if (!(Number.isInteger(count) && count >= 0 && count <= MOST_IN_BATCH)) {
    throw new InvalidInputError("create.invalid", `count must be a whole number from 0 to ${MOST_IN_BATCH}.`);
  }
  return Array.from({ length: count }, () => alike);
}
