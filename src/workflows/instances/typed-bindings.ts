import type { ParamsOf, WorkflowEvents, WorkflowOutput, Workflows } from "../define/workflow-types.ts";
import type { WorkflowBinding } from "./workflow-binding.ts";

/** The binding of one workflow, with its types. */
export type BindingOf<Workflow> = WorkflowBinding<
  ParamsOf<Workflow>,
  WorkflowOutput<Workflow>,
  WorkflowEvents<Workflow>
>;

export type TypedBindings<Registry extends Workflows> = { readonly [Key in keyof Registry]: BindingOf<Registry[Key]> };
