import type { HttpHandler } from "../../../src/http/index.ts";

/** Loses what it is told to lose, on the way there or on the way back. */
export class Network {
  readonly #handler: HttpHandler;
  readonly requests: string[] = [];
  lose: (request: Request) => "request" | "answer" | "half" | null = () => null;
  /** Answers instead of the server, which may have done what it was asked to. */
  replace: (request: Request, response: Response) => Response | null = () => null;

  constructor(handler: HttpHandler) {
    this.#handler = handler;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    this.requests.push(`${request.method} ${new URL(request.url).pathname.replace("/perdure", "")}`);
    const lost = this.lose(request);
    if (lost === "request") throw new TypeError("fetch failed");
    const response = await this.#handler(request);
    if (lost === "answer") {
      await response.text();
      throw new TypeError("fetch failed");
    }
    if (lost === "half") return new Response(halfOf(await response.text()), response);
    return this.replace(request, response) ?? response;
  };

  /** The first that is one of these gets no answer, or half of one. */
  loseAnswersOf(...paths: RegExp[]): void {
    this.#loseOnce("answer", paths);
  }

  cutAnswersOf(...paths: RegExp[]): void {
    this.#loseOnce("half", paths);
  }

  #loseOnce(lost: "answer" | "half", paths: readonly RegExp[]): void {
    const left = new Set(paths);
    this.lose = ({ method, url }) => {
      const fitting = [...left].find((path) => path.test(`${method} ${new URL(url).pathname}`));
      if (fitting === undefined) return null;
      left.delete(fitting);
      return lost;
    };
  }
}

/** Breaks off as a connection does. */
function halfOf(text: string): ReadableStream<Uint8Array> {
  const half = new TextEncoder().encode(text.slice(0, text.length / 2));
  const chunks = [half];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.error(new TypeError("terminated"));
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
}
