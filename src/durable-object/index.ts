export {
  type DurableObjectOptions,
  durableObject,
  type ObjectState,
  type ObjectStorage,
} from "../store/sqlite/durable-object.ts";
