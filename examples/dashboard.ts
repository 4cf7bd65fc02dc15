/**
 * Serves the dashboard of an application on this machine. The link that it returns lets one browser in, once, and gives it a
 * cookie, so whoever sees the address later gets nowhere.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDashboard } from "perdure/dashboard";
import { toNodeHandler } from "perdure/http/node";

type App = Parameters<typeof createDashboard>[0];

const BASE = "/dashboard";

export async function serveDashboard(app: App): Promise<{ readonly url: string; close(): void }> {
  const session = createSecret();
  const links = new Set([createSecret()]);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const cookie = `perdure-demo-${port}=${session}`; // browsers send cookies to all ports of a host

  const admits = (request: Request) => request.headers.get("cookie")?.split(/; */).includes(cookie) ?? false;
  const dashboard = createDashboard(app, {
    basePath: BASE,
    authorize: ({ request }) => admits(request) || "unauthenticated",
    actions: true,
    payloads: true,
  });

  server.on(
    "request",
    toNodeHandler(async (request) => {
      const url = new URL(request.url);
      // A page of another site can make its own name lead to this machine; requests under such a name are refused.
      if (url.hostname !== "127.0.0.1") return new Response("Use the link that was printed.\n", { status: 403 });
      if (url.pathname !== "/") return dashboard(request);
      const invited = links.delete(url.searchParams.get("token") ?? "");
      if (!invited && !admits(request)) return new Response("The link works once.\n", { status: 401 });
      const headers = new Headers({
        location: `${BASE}/`,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
      });
      if (invited) headers.set("set-cookie", `${cookie}; HttpOnly; SameSite=Strict; Path=/`);
      return new Response(null, { status: 303, headers });
    }),
  );
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/?token=${[...links].join()}`, close };
}

function createSecret(): string {
  return randomBytes(24).toString("base64url");
}
