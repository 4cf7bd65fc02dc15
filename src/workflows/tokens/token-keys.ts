const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NONCE_BYTES = 12;
const TOKEN = /^[A-Za-z0-9_-]{40,4000}$/;
/** No text in Base64 has this many characters more than a multiple of four. */
const IMPOSSIBLE_REST = 1;

/** What TextEncoder gives: its type differs between runtimes. */
type Bytes = ReturnType<(typeof encoder)["encode"]>;
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

interface Keys {
  readonly mac: Key;
  readonly cipher: Key;
}

/**
 * Makes tokens from texts and reads them again. A token is the text, encrypted and authenticated with a secret. The same text
 * always gives the same token, so that a replay has the token that was given out, and none is stored: the nonce is a MAC of the
 * text.
 */
export class TokenKeys {
  readonly #namespace: Bytes;
  readonly #keys: readonly Promise<Keys>[];

  constructor(namespace: string, secrets: readonly string[]) {
    this.#namespace = encoder.encode(namespace);
    this.#keys = secrets.map(deriveKeys);
  }

  async seal(text: string): Promise<string> {
    const { mac, cipher } = await (this.#keys[0] as Promise<Keys>);
    const bytes = encoder.encode(text);
    const nonce = new Uint8Array(await crypto.subtle.sign("HMAC", mac, bytes)).slice(0, NONCE_BYTES);
    const sealed = await crypto.subtle.encrypt(this.#algorithm(nonce), cipher, bytes);
    return toText(new Uint8Array([...nonce, ...new Uint8Array(sealed)]));
  }

  /** The text of a token; null if none of the secrets made it. */
  async open(token: string): Promise<string | null> {
    if (!TOKEN.test(token) || token.length % 4 === IMPOSSIBLE_REST) return null;
    const bytes = fromText(token);
    for (const keys of this.#keys) {
      const { cipher } = await keys;
      const algorithm = this.#algorithm(bytes.slice(0, NONCE_BYTES));
      const opened = await crypto.subtle.decrypt(algorithm, cipher, bytes.slice(NONCE_BYTES)).catch(() => null);
      if (opened !== null) return decoder.decode(opened);
    }
    return null;
  }

  #algorithm(iv: Bytes) {
    return { name: "AES-GCM", iv, additionalData: this.#namespace };
  }
}

async function deriveKeys(secret: string): Promise<Keys> {
  const derive = (purpose: string) =>
    crypto.subtle.digest("SHA-256", encoder.encode(`perdure token ${purpose}\n${secret}`));
  const hmac = { name: "HMAC", hash: "SHA-256" };
  return {
    mac: await crypto.subtle.importKey("raw", await derive("nonce"), hmac, false, ["sign"]),
    cipher: await crypto.subtle.importKey("raw", await derive("cipher"), "AES-GCM", false, ["encrypt", "decrypt"]),
  };
}

function toText(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromText(token: string): Uint8Array<ArrayBuffer> {
  const text = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
