export {
  type DurableObjectOptions,
  durableObject,
  type ObjectState,
  type ObjectStorage,
} from "../store/sqlite/durable-object.ts";
export type { ObjectDefinition } from "./object-definition.ts";
export {
  createObjectRouter,
  type ObjectRouterOptions,
  type RoutedBinding,
  type RoutedBindings,
  type RoutedWorkflowInstance,
} from "./object-router.ts";
export { PerdureObject, type PerdureObjectClass } from "./perdure-object.ts";
export type { ObjectNamespace } from "./shards.ts";
