import { NotFoundError } from "../errors.ts";

export function notFound(workflow: string, id: string): NotFoundError {
  return new NotFoundError("instance.not_found", `The workflow "${workflow}" has no instance "${id}".`);
}
