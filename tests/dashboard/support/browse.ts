import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { createDashboard, type DashboardOptions } from "../../../src/dashboard/index.ts";
import type { Servable } from "../../../src/http/index.ts";
import { toNodeHandler } from "../../../src/http/node.ts";

/** A dashboard on a server of its own, below a sub-path. */
export async function serveDashboard(app: Servable, options: Partial<DashboardOptions> = {}) {
  const all = { basePath: "/internal/ops", authorize: () => true, actions: true, payloads: true, ...options };
  const server: Server = createServer(toNodeHandler(createDashboard(app, all)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${all.basePath}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, close };
}

/** What the browser complains about: errors of scripts, and whatever the content security policy has stopped. */
export function watchComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of (4|5)\d\d/.test(message.text())) complaints.push(message.text());
  });
  return complaints;
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds, with everything that it checks. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source); // by the tools' connection, which the page's policy doesn't concern
  const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
    violations: readonly Violation[];
  };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
