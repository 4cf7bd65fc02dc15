import { NotFoundError } from "../../errors.ts";

/** Its message is what Cloudflare's is, because public code compares it. */
export function notFound(workflow: string, id: string): NotFoundError {
  const details = `The workflow "${workflow}" has no instance "${id}".`;
  return new NotFoundError("instance.not_found", "instance.not_found", { details });
}
