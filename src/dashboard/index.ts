/** A web page for operators, on servers that use the Web's Request and Response. */
export { createDashboard } from "./create-dashboard.ts";
export type { DashboardOptions } from "./dashboard-options.ts";
