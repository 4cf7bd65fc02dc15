/** Tools for assistants, over the Model Context Protocol. Needs the package @modelcontextprotocol/sdk. */
export { createMcpServer, type McpServer, type McpServerOptions, type McpTransport } from "./create-mcp-server.ts";
