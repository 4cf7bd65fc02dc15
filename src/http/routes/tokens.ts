import { invalidToken } from "../../errors.ts";
import { completeToken as complete, openToken } from "../../workflows/tokens/complete-token.ts";
import type { Receipts } from "../requests/repeatable-request.ts";
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
  public: "tokens",
  params: { token: { type: "string", minLength: 1, maxLength: 4000 } },
  body: objectOf({ payload: VALUE }, []),
  bodyOptional: true,
  repeatable: true,
  answers: DONE,
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  handle: async ({ host, params: { token }, body, repeatable, scope }) => {
    const { workflows } = host.parts;
    if (workflows === null) throw invalidToken();
    if (scope.narrowed) {
      const { name: workflowName, id: instanceId } = await openToken(workflows, token);
      const [own] = await host.findRuns([{ workflowName, instanceId }], scope);
      if (own === null) throw invalidToken();
    }
    const payload = body.payload === undefined ? undefined : fromWire(body.payload, "payload");
    const perform = async (receipts?: Receipts) => {
      await complete(workflows, token, payload, receipts?.());
      return null;
    };
    // A request with a key is remembered only if it has a token of this application.
    const find = async () => ({ instance: (await openToken(workflows, token)).ref });
    if (repeatable === null) await perform();
    else await repeatable.once({ find, perform: (_, receipts) => perform(receipts), refuse: () => perform() });
    return { status: 204 };
  },
});
