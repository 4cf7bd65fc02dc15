export {
  createSubjectDispatcher,
  runSubjects,
  type SubjectDispatcherOptions,
} from "./app/create-subject-dispatcher.ts";
export { type PerdureOptions, perdure } from "./app/perdure.ts";
export * from "./everywhere.ts";
