import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";

/** Tokens for callers outside the application, see `step.createToken`. */
export interface TokenOptions {
  /**
   * At least 32 characters, the same in every process and kept outside the database. Tokens are made from it, so that none
   * is stored. With several, the first makes tokens and all are accepted.
   */
  readonly secret: string | readonly string[];
  /** Where the HTTP handler is, as the holders of tokens see it: `https://example.org/perdure`. */
  readonly url?: string;
}

export interface TokenSettings {
  readonly secrets: readonly string[];
  /** Without a slash at its end. */
  readonly url: string | null;
}

const SHORTEST_SECRET = 32;

export function parseTokenOptions(options: TokenOptions | undefined): TokenSettings | null {
  if (options === undefined) return null;
  checkOptions(options, { label: "tokens", fields: ["secret", "url"] });
  const secrets = typeof options.secret === "string" ? [options.secret] : options.secret;
  const valid = (secret: unknown) => typeof secret === "string" && secret.length >= SHORTEST_SECRET;
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(valid)) {
    throw new InvalidInputError(
      "options.invalid",
      `tokens.secret must be a text of at least ${SHORTEST_SECRET} characters.`,
    );
  }
  const { url = null } = options;
  if (url !== null && !URL.canParse(url)) {
    throw new InvalidInputError("options.invalid", "tokens.url must be a URL, such as https://example.org/perdure.");
  }
  return { secrets, url: url === null ? null : url.replace(/\/+$/, "") };
}
