/**
 * Dependencies point inward: concepts know ports, engines implement ports, edges use concepts.
 *
 * Every folder that is neither an engine nor an edge is core, so a new folder follows the strictest rules until it is named here.
 */
const engines = "^src/store/(sqlite|postgres)/";
const edges =
  "^src/(app|cli|client|cloudflare|dashboard|dispatchers|durable-object|flo|http|mcp|telemetry|testing|transactions)/|^src/(index|everywhere)\\.ts$";
const concepts = "^src/(fragment|hooks|workflows|subjects)/";
const tests = "\\.test\\.ts$";
const outside = "^(tests|examples|bench|dashboard)/";

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    {
      name: "core-runs-everywhere",
      comment:
        "The core uses Web Standards only: no node:*, no cloudflare:*, no driver, no package but the schema types and the cron parser.",
      severity: "error",
      from: { path: "^src/", pathNot: [engines, edges, tests] },
      to: { pathNot: ["^src/", "^(node_modules/)?(@standard-schema/spec|croner)/?", outside] },
    },
    {
      name: "core-knows-no-engine",
      comment: "The core asks the port (src/store/*.ts); which engine answers is decided at an edge.",
      severity: "error",
      from: { path: "^src/", pathNot: [engines, edges, tests] },
      to: { path: engines },
    },
    {
      name: "core-knows-no-edge",
      comment: "Edges use the core, never the other way round.",
      severity: "error",
      from: { path: "^src/", pathNot: [engines, edges, tests] },
      to: { path: edges },
    },
    {
      name: "engines-know-no-edge",
      comment: "An engine implements the port and doesn't depend on its users.",
      severity: "error",
      from: { path: engines, pathNot: tests },
      to: { path: edges },
    },
    {
      name: "engines-know-no-concept",
      comment:
        "An engine speaks the port's words (src/store/*.ts), not those of hooks, workflows, subjects or fragments.",
      severity: "error",
      from: { path: engines, pathNot: tests },
      to: { path: concepts },
    },
    {
      name: "engines-stand-alone",
      comment: "Code that two engines share belongs to the port, so that neither engine loads the other.",
      severity: "error",
      from: { path: "^src/store/(sqlite|postgres)/", pathNot: tests },
      to: { path: engines, pathNot: "^src/store/$1/" },
    },
    {
      name: "http-runs-everywhere",
      comment: "A Worker has no Node modules and no driver; code for Node is in src/http/node*.ts.",
      severity: "error",
      from: { path: "^src/(http|dashboard)/", pathNot: [tests, "^src/http/node(-body)?\\.ts$"] },
      to: { pathNot: ["^src/", "^#dashboard-page$", "^(node_modules/)?@standard-schema/spec"] },
    },
    {
      name: "http-knows-no-other-edge",
      comment: "It serves the application that it is given, and must not load engines or other edges.",
      severity: "error",
      from: { path: "^src/http/", pathNot: tests },
      to: { path: [engines, edges], pathNot: "^src/http/" },
    },
    {
      name: "dashboard-knows-only-http",
      comment: "It is a page for the HTTP API, and must not load engines or other edges.",
      severity: "error",
      from: { path: "^src/dashboard/", pathNot: tests },
      to: { path: [engines, edges], pathNot: "^src/(dashboard|http)/" },
    },
    {
      name: "mcp-knows-only-http",
      comment: "Its tools are the routes of the HTTP API, and it must run where that runs.",
      severity: "error",
      from: { path: "^src/mcp/", pathNot: tests },
      to: { pathNot: ["^src/(http|mcp)/", "^src/[^/]+\\.ts$", "^(node_modules/)?@modelcontextprotocol/sdk/"] },
    },
    {
      name: "published-code-stands-alone",
      comment: "The package has only src: no tests, examples or benchmarks.",
      severity: "error",
      from: { path: "^src/", pathNot: tests },
      to: { path: [tests, outside] },
    },
    {
      name: "published-code-declares-its-packages",
      comment: "A devDependency isn't installed together with the package.",
      severity: "error",
      from: { path: "^src/", pathNot: tests },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg"], dependencyTypesNot: ["npm", "npm-peer"] },
    },
    {
      name: "no-cycle",
      comment: "Files that need each other are one file, or miss a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolvable",
      comment: "A path that leads nowhere hides from every other rule.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^(cloudflare:|#dashboard-page$)" },
    },
  ],
  options: {
    parser: "tsc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    // What was built isn't a source, and isn't there in a fresh clone.
    exclude: { path: "^dist/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "node", "default"],
    },
  },
};
