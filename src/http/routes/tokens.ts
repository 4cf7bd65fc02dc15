import { NotFoundError } from "../../errors.ts";
import { completeToken as complete } from "../../workflows/tokens/complete-token.ts";
import { DONE, VALUE } from "../schemas/common-schemas.ts";
import { objectOf } from "../schemas/schema.ts";
import { fromWire } from "../wire-values.ts";
import { defineRoute } from "./route.ts";

/** The token is the permission: its holder can end one wait, and do nothing else. */
export const completeToken = defineRoute({
  method: "POST",
  path: "/tokens/{token}",
  name: "completeToken",
  summary: "Ends the wait of a token, once. Needs no other authorization, unless the handler has `authorizeTokens`.",
  operation: "events",
  resource: () => ({ kind: "application" }),
  public: true,
  params: { token: { type: "string", minLength: 1, maxLength: 4000 } },
  body: objectOf({ payload: VALUE }, []),
  bodyOptional: true,
  answers: DONE,
  errors: [404, 409],
  handle: async ({ host, params, body }) => {
    const { workflows } = host.parts;
    if (workflows === null) throw new NotFoundError("token.invalid", "This isn't a token of this application.");
    const payload = body.payload === undefined ? undefined : fromWire(body.payload, "payload");
    await complete(workflows, params.token, payload);
    return { status: 204 };
  },
});
