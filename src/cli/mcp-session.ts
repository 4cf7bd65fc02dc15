import type { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { createToolServer } from "../mcp/tool-server.ts";
import type { ToolSettings } from "../mcp/tools.ts";

export interface SessionStreams {
  readonly stdin: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Serves one client until it closes the standard input and has all of its answers, or until the process is told to end. */
export async function serveTools(settings: ToolSettings, { stdin, output, signal }: SessionStreams): Promise<void> {
  const server = createToolServer(settings);
  const transport = new CountingTransport(stdin, output);
  await server.connect(transport);
  const ended = Promise.withResolvers<void>();
  const stop = () => ended.resolve();
  server.onclose = stop;
  signal.addEventListener("abort", stop, { once: true });
  stdin.once("end", () => transport.whenAnswered(stop));
  if (signal.aborted) stop();
  await ended.promise;
  signal.removeEventListener("abort", stop);
  await server.close();
}

/** Knows which requests of its client have no answer yet. */
class CountingTransport extends StdioServerTransport {
  readonly #open = new Set<RequestId>();
  #onAnswered: (() => void) | undefined;

  override async start(): Promise<void> {
    const receive = this.onmessage;
    this.onmessage = (message: JSONRPCMessage) => {
      if ("method" in message && "id" in message) this.#open.add(message.id);
      if ("method" in message && message.method === "notifications/cancelled")
        this.#close(message.params?.["requestId"]);
      receive?.(message);
    };
    await super.start();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!("method" in message)) this.#close(message.id);
  }

  /** Calls once all requests that have arrived are answered. */
  whenAnswered(call: () => void): void {
    if (this.#open.size === 0) call();
    else this.#onAnswered = call;
  }

  #close(id: unknown): void {
    this.#open.delete(id as RequestId);
    if (this.#open.size === 0) this.#onAnswered?.();
  }
}
