import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createDashboard } from "../../dashboard/index.ts";
import { toNodeHandler } from "../../http/node.ts";
import type { AnyApplication } from "./application-module.ts";
import { createSecret, type DevNews, type DevOrder, isSame } from "./dev-session.ts";
import { listen } from "./start.ts";

const LOOPBACK = "127.0.0.1";
const BASE = "/dashboard";
const REFUSAL = "Open the link that `perdure dev` has printed, or a new one: `perdure open`. Each link works once.\n";

/**
 * Serves the dashboard to this machine. A link that was printed lets one browser in, and gives it a cookie. Pages of other
 * sites get neither: the cookie stays with this site, and a name that another site resolves to this machine is refused.
 */
export async function serveDashboard(
  app: AnyApplication,
  { session, anyPort }: DevOrder,
  tell: (news: DevNews) => void,
): Promise<Server> {
  const gate = new Gate(session, (links) => tell({ kind: "links", links }));
  const authorize = ({ request }: { readonly request: Request }) =>
    gate.admits(request) || ("unauthenticated" as const);
  const dashboard = createDashboard(app, { basePath: BASE, authorize, actions: true, payloads: authorize });
  const handler = async (request: Request) => gate.answer(request) ?? dashboard(request);
  const server = createServer(toNodeHandler(handler));
  await listen(server, session.port, LOOPBACK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE" && anyPort) return listen(server, 0, LOOPBACK);
    throw error;
  });
  const { port } = server.address() as AddressInfo;
  gate.port = port;
  tell({ kind: "listening", port });
  return server;
}

class Gate {
  port = 0;
  readonly #cookie: string;
  readonly #control: string;
  readonly #links: Set<string>;
  readonly #tell: (links: readonly string[]) => void;

  constructor({ cookie, control, links }: DevOrder["session"], tell: (links: readonly string[]) => void) {
    this.#cookie = cookie;
    this.#control = control;
    this.#links = new Set(links);
    this.#tell = tell;
  }

  admits(request: Request): boolean {
    const cookies = request.headers.get("cookie")?.split(/; */) ?? [];
    const own = cookies.find((cookie) => cookie.startsWith(`${this.#name}=`));
    return isSame(own?.slice(this.#name.length + 1), this.#cookie);
  }

  /** Null if the dashboard is to answer. */
  answer(request: Request): Response | null {
    const url = new URL(request.url);
    if (![LOOPBACK, "localhost"].includes(url.hostname)) return refuse(403);
    if (url.pathname === "/link" && request.method === "POST") return this.#createLink(request);
    if (url.pathname !== "/") return this.admits(request) ? null : refuse(401);
    const token = url.searchParams.get("token");
    if (token !== null && this.#links.delete(token)) {
      this.#tell([...this.#links]);
      const cookie = `${this.#name}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`;
      return redirect({ "set-cookie": cookie });
    }
    return this.admits(request) ? redirect({}) : refuse(401);
  }

  #createLink({ headers }: Request): Response {
    if (!isSame(headers.get("authorization")?.replace(/^Bearer /, ""), this.#control)) return refuse(401);
    const token = createSecret();
    this.#links.add(token);
    this.#tell([...this.#links]);
    return Response.json({ token });
  }

  /** Browsers send cookies to all ports of a host. */
  get #name(): string {
    return `perdure-dev-${this.port}`;
  }
}

function redirect(headers: Readonly<Record<string, string>>): Response {
  return new Response(null, {
    status: 303,
    headers: { ...headers, location: `${BASE}/`, "cache-control": "no-store" },
  });
}

function refuse(status: number): Response {
  return new Response(REFUSAL, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}
