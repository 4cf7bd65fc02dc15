export {
  createDurableHooksDispatcher,
  type DispatcherOptions,
  type DurableHooksDispatcher,
} from "./node-dispatcher.ts";
