const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The names of files change with their content. Only the browser of the caller may keep them: callers are authorized. */
const FOREVER = "private, max-age=31536000, immutable";

type Page = typeof import("#dashboard-page");

/** The page and its files, which are part of the package. */
export class PageFiles {
  readonly #basePath: string;
  readonly #compressed = new Map<string, Promise<ArrayBuffer>>();
  #page: Promise<Page> | undefined;

  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  /** Every view has a URL of its own, and all of them begin with this document. */
  async document(request: Request): Promise<Response> {
    const { script, styles } = await this.#load();
    const base = this.#basePath; // of characters that need no escape
    const links = styles.map((name) => `<link rel="stylesheet" href="${base}/assets/${name}">`).join("");
    const html =
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
      `<meta name="color-scheme" content="light dark"><meta name="perdure-base" content="${base}"><title>Perdure</title>` +
      `<link rel="icon" href="${base}/assets/icon.svg" type="image/svg+xml">${links}` +
      `<script type="module" src="${base}/assets/${script}"></script></head>` +
      '<body><div id="page"></div><noscript>The dashboard needs JavaScript.</noscript></body></html>';
    return this.#send(request, "document", html, { "content-type": "text/html; charset=utf-8" });
  }

  /** Null if there is no such file. */
  async asset(request: Request, name: string): Promise<Response | null> {
    const { files } = await this.#load();
    const text = Object.hasOwn(files, name) ? files[name] : undefined;
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (text === undefined || type === undefined) return null;
    return this.#send(request, name, text, { "content-type": type, "cache-control": FOREVER });
  }

  #load(): Promise<Page> {
    this.#page ??= import("#dashboard-page");
    return this.#page;
  }

  async #send(request: Request, name: string, text: string, headers: Record<string, string>): Promise<Response> {
    const plain = { headers: { ...headers, vary: "accept-encoding" } };
    if (!compresses(request)) return new Response(text, plain);
    let compressed = this.#compressed.get(name);
    if (compressed === undefined) {
      compressed = compress(text);
      this.#compressed.set(name, compressed);
    }
    return new Response(await compressed, { headers: { ...plain.headers, "content-encoding": "gzip" } });
  }
}

/** Cloudflare compresses answers itself, and would do so twice. */
function compresses({ headers }: Request): boolean {
  const asked = /\bgzip\b/.test(headers.get("accept-encoding") ?? "");
  return asked && globalThis.navigator?.userAgent !== "Cloudflare-Workers";
}

function compress(text: string): Promise<ArrayBuffer> {
  const stream = new Response(text).body?.pipeThrough(new CompressionStream("gzip"));
  return new Response(stream ?? null).arrayBuffer();
}
