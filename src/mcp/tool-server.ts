import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { VERSION } from "../version.ts";
import { type ToolSettings, Tools } from "./tools.ts";

const INSTRUCTIONS = `These tools look after an application that runs durable workflows and hooks with Perdure.

- readStatistics counts everything; listAllInstances and listHooks find what matches a filter; a cursor that isn't null means that there are more.
- explainInstance and explainHook say why something waits; readHistory has the steps of an instance.
- Workflow names are those under which instances are stored.
- Values of users may be hidden: they are shown as "[REDACTED]".`;

/** A server for one client, which isn't connected yet. */
export function createToolServer(settings: ToolSettings): Server {
  const tools = new Tools(settings);
  const server = new Server(
    { name: "perdure", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.definitions] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, requestInfo }) => {
    const answer = await tools.call(params.name, params.arguments ?? {}, { signal, headers: requestInfo?.headers });
    if (answer === null) throw new McpError(ErrorCode.InvalidParams, "There is no such tool.");
    return answer;
  });
  return server;
}
