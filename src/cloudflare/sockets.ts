import { PerdureError } from "../errors.ts";

/** `cloudflare:sockets`, so that files which import it load: the call itself says what to do instead. */
export function connect(): never {
  throw new PerdureError(
    "cloudflare.not_available",
    "connect of cloudflare:sockets isn't available on Node. Use node:net or node:tls there.",
  );
}
