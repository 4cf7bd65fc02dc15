/**
 * Serves the dashboard of an application on this machine. The address has a secret path, and it is all that a
 * browser needs: so it is printed in a terminal, and nowhere else.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDashboard } from "perdure/dashboard";
import { toNodeHandler } from "perdure/http/node";

type App = Parameters<typeof createDashboard>[0];

export async function serveDashboard(app: App): Promise<{ readonly url: string; close(): void }> {
  const basePath = `/${randomUUID()}`;
  // A page of another site can make its own name lead to this machine; requests under such a name are refused.
  const authorize = ({ request }: { readonly request: Request }) => new URL(request.url).hostname === "127.0.0.1";
  const dashboard = createDashboard(app, { basePath, authorize, actions: true, payloads: true });
  const server = createServer(toNodeHandler(dashboard)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}${basePath}/`, close };
}
