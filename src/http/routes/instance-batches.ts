import type { InstanceRun } from "../../store/instances/instance-records.ts";
import { MOST_IN_BATCH } from "../../workflows/define/workflow-settings.ts";
import { deleteBatch as deleteBatchOf } from "../../workflows/instances/create/batches.ts";
import type { RestartOptions } from "../../workflows/instances/create/create-options.ts";
import { restartOrCreate as restartOrCreateOf } from "../../workflows/instances/create/restart-or-create.ts";
import { requestedInstance } from "../access/request-details.ts";
import { present } from "../answers/present.ts";
import type { Receipts } from "../requests/repeatable-request.ts";
import { NAME } from "../schemas/common-schemas.ts";
import { arrayOf, objectOf } from "../schemas/schema.ts";
import { TRAITS, toCreateOptions } from "./create-instances.ts";
import {
  BATCH_ERROR,
  INSTANCE_PARAMS,
  INSTANCE_PATH,
  instanceResource,
  STATUS,
  workflowResource,
} from "./instance-schemas.ts";
import { defineRoute } from "./route.ts";

const DELETED = objectOf(
  { deleted: arrayOf(objectOf({ id: { type: "string" } }, ["id"])), errors: arrayOf(BATCH_ERROR) },
  ["deleted", "errors"],
);

type Runs = Readonly<Record<string, InstanceRun>>;

/** For an id that had no instance when the request was first sent. */
const NO_RUN: InstanceRun = { ref: "", run: 0 };

export const deleteBatch = defineRoute({
  method: "POST",
  path: "/workflows/{workflowName}/instances/batch/delete",
  name: "deleteBatch",
  summary: `Deletes instances with their histories, in any state. At most 100, or as many as the application's limits.batchSize, up to ${MOST_IN_BATCH}.`,
  operation: "manage",
  resource: workflowResource,
  params: { workflowName: NAME },
  body: objectOf({ ids: { type: "array", items: NAME, minItems: 1, maxItems: MOST_IN_BATCH } }, ["ids"]),
  repeatable: true,
  answers: { 200: { description: "What was done.", schema: DELETED } },
  errors: [409],
  forNarrowed: "onlyTheirs",
  details: ({ body }) => ({ instances: body.ids.map((id) => requestedInstance(id)) }),
  handle: async ({ host, params: { workflowName }, body: { ids }, repeatable, scope, show }) => {
    const { runtime, stored } = host.storedWorkflow(workflowName);
    const sees = (labels: string | null) => scope.sees(labels);
    const deleteAll = async (runs?: Runs, receipts?: Receipts) => {
      // An id may be the name of a property that every object inherits.
      const only = runs && ((id: string) => (Object.hasOwn(runs, id) ? (runs[id] as InstanceRun) : NO_RUN));
      const receipt = receipts && ((id: string) => receipts(ids.indexOf(id)));
      return present(DELETED, await deleteBatchOf(runtime, stored, ids, { only, receipt, sees }), show);
    };
    const find = async (): Promise<Runs> => {
      const found = await host.findRuns(
        ids.map((instanceId) => ({ workflowName: stored.name, instanceId })),
        scope,
      );
      return Object.fromEntries(ids.flatMap((id, index) => (found[index] ? [[id, found[index]]] : [])));
    };
    const deleteSeen = async () => deleteAll(scope.narrowed ? await find() : undefined);
    const deleted =
      repeatable === null
        ? await deleteSeen()
        : await repeatable.once({ find, perform: deleteAll, refuse: deleteSeen });
    return { status: 200, body: deleted };
  },
});

const ENSURED = objectOf(
  {
    id: { type: "string" },
    workflowName: { type: "string" },
    outcome: { type: "string", enum: ["created", "restarted", "unchanged"] },
  },
  ["id", "workflowName", "outcome"],
);

export const restartOrCreate = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/restart-or-create`,
  name: "restartOrCreate",
  summary: "Makes sure that an instance runs (again): creates it, restarts it if it is finished, or leaves it alone.",
  operation: "manage",
  alsoNeeds: "create",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  body: objectOf(
    {
      ...TRAITS,
      when: {
        anyOf: [
          { type: "string", enum: ["finished", "always"] },
          { type: "array", items: STATUS, minItems: 1, maxItems: 20 },
        ],
        description: "The states from which it is restarted. Default: finished.",
      },
    },
    [],
  ),
  bodyOptional: true,
  repeatable: true,
  answers: { 200: { description: "What was done.", schema: ENSURED } },
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  details: ({ params, body }) => ({ instances: [requestedInstance(params.instanceId, body)] }),
  handle: async ({ host, params, body, repeatable, scope, show }) => {
    const { workflowName, instanceId: id } = params;
    const { runtime, registered } = host.workflow(workflowName);
    const labels = scope.narrowed ? { labels: scope.labelsOfNew(body.labels) } : {};
    const options = { ...toCreateOptions(body), ...labels, id } as RestartOptions<unknown>;
    const findOwn = scope.narrowed ? () => host.findOwn(params, scope) : undefined;
    const perform = async (receipts?: Receipts) => {
      const receiptOf = receipts && ((outcome: string) => receipts(0, outcome));
      const { outcome } = await restartOrCreateOf(runtime, registered, options, receiptOf, findOwn);
      return present(ENSURED, { id, workflowName, outcome }, show);
    };
    const find = async () => ({}); // it can be ensured whether or not it exists
    const ensured =
      repeatable === null
        ? await perform()
        : await repeatable.once({ find, perform: (_, receipts) => perform(receipts), refuse: () => perform() });
    return { status: 200, body: ensured };
  },
});
