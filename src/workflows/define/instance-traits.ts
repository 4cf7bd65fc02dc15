import { type InstanceTraits, NO_TRAITS } from "../../store/instances/instance-records.ts";
import type { CreateOptions } from "../instances/create-options.ts";
import { parseLabels } from "./labels.ts";
import type { RegisteredWorkflow } from "./registered-workflows.ts";
import { parseRetention } from "./retention.ts";

const TRAITS = Object.keys(NO_TRAITS) as (keyof InstanceTraits)[];

type GivenTraits = Pick<InstanceTraits, "labels" | "successRetention" | "errorRetention">;

/** What `create` says of an instance, or else its workflow. */
export function parseTraits(workflow: RegisteredWorkflow, options: CreateOptions<unknown>): GivenTraits {
  const labels = parseLabels(options.labels, "create.invalid");
  return {
    ...parseRetention(options.retention, "create.invalid", workflow.retention),
    labels: labels.length === 0 ? null : JSON.stringify(Object.fromEntries(labels)),
  };
}

/** Null for one that is like most: those are created faster. */
export function toTraits(given: Partial<InstanceTraits>): InstanceTraits | null {
  const plain = TRAITS.every((name) => given[name] === undefined || given[name] === NO_TRAITS[name]);
  return plain ? null : { ...NO_TRAITS, ...given };
}
