import { HttpError, invalidRequest } from "../answers/http-error.ts";
import type { Route } from "./route.ts";

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface Template {
  readonly route: Route;
  /** A text, or the name of a parameter. */
  readonly segments: readonly ({ readonly text: string } | { readonly parameter: string })[];
}

const LONGEST_PATH = 4096;
const LONGEST_SHOWN = 200;
const PARAMETER = /^\{(\w+)\}$/;

/** Finds the route of a path below a base. Segments are split before they are decoded, so an encoded slash doesn't separate. */
export class Router {
  readonly #base: string;
  readonly #templates: readonly Template[];

  constructor(base: string, routes: readonly Route[]) {
    this.#base = base;
    this.#templates = routes.map((route) => ({ route, segments: route.path.slice(1).split("/").map(toSegment) }));
  }

  /** Throws the error for a request without a route. */
  match(method: string, pathname: string): Match {
    const templates = this.#find(pathname);
    const found = templates.find(({ route }) => route.method === method);
    if (found === undefined) {
      const allowed = methodsOf(templates);
      throw new HttpError(405, "http.method_not_allowed", `This path takes ${allowed}.`, {
        headers: { allow: allowed },
      });
    }
    const segments = this.#segmentsOf(pathname);
    const params: Record<string, string> = {};
    for (const [index, segment] of found.segments.entries()) {
      if ("parameter" in segment) params[segment.parameter] = decodeSegment(segments[index] as string);
    }
    return { route: found.route, params };
  }

  /** The methods for the answer to a preflight. An unknown path has all of them, so that the page gets its 404. */
  methods(pathname: string): string {
    const segments = this.#segmentsOf(pathname);
    const found = this.#templates.filter((template) => fits(template, segments));
    return methodsOf(found.length > 0 ? found : this.#templates);
  }

  #find(pathname: string): Template[] {
    if (pathname.length > LONGEST_PATH) throw new HttpError(414, "http.path_too_long", "The path is too long.");
    const segments = this.#segmentsOf(pathname);
    const templates = this.#templates.filter((template) => fits(template, segments));
    if (templates.length > 0) return templates;
    throw new HttpError(404, "http.not_found", this.#explain(pathname));
  }

  /** A wrong `basePath` is a common mistake. */
  #explain(pathname: string): string {
    const base = this.#base === "" ? "it is mounted at the root" : `its basePath is ${JSON.stringify(this.#base)}`;
    const given = pathname.slice(1).split("/");
    const start = given.findIndex((_, index) => this.#templates.some((one) => fits(one, given.slice(index))));
    const actual = `/${given.slice(0, Math.max(start, 0)).join("/")}`;
    if (start >= 0 && actual.length <= LONGEST_SHOWN) {
      return `The handler has such a route, but not below ${JSON.stringify(actual)}: ${base}. basePath must be the path as clients see it.`;
    }
    if (this.#base !== "" && !pathname.startsWith(`${this.#base}/`)) {
      return `The path isn't below the handler's basePath, which is ${JSON.stringify(this.#base)}.`;
    }
    return "There is nothing at this path; /openapi.json lists the routes.";
  }

  #segmentsOf(pathname: string): string[] {
    return pathname.startsWith(`${this.#base}/`) ? pathname.slice(this.#base.length + 1).split("/") : [];
  }
}

function toSegment(text: string): Template["segments"][number] {
  const [, parameter] = PARAMETER.exec(text) ?? [];
  return parameter === undefined ? { text } : { parameter };
}

function fits({ segments }: Template, actual: readonly string[]): boolean {
  if (segments.length !== actual.length) return false;
  return segments.every((segment, index) =>
    "text" in segment ? segment.text === actual[index] : actual[index] !== "",
  );
}

function methodsOf(templates: readonly Template[]): string {
  return [...new Set(templates.map(({ route }) => route.method))].join(", ");
}

/** Decodes once: a segment that was encoded twice stays encoded once. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidRequest("The path has an escape that isn't UTF-8.");
  }
}
