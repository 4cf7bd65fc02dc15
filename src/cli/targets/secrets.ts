/** What must never be printed: passwords in URLs, and tokens. A process has few of them. */
const secrets = new Set<string>();

const SHORTEST = 4;

export function keepSecret(secret: string | undefined): void {
  if (secret === undefined || secret.length < SHORTEST) return;
  secrets.add(secret);
  secrets.add(encodeURIComponent(secret));
}

/** Remembers the password of a URL, in the form that it has there and in the form that a driver uses. */
export function keepUrlSecret(text: string): void {
  const url = URL.parse(text);
  if (url === null) return;
  const parameters = ["password", "sslpassword", "token"].map((name) => url.searchParams.get(name) ?? "");
  for (const secret of [url.password, decode(url.password), ...parameters]) keepSecret(secret);
}

/** A text without the secrets that this process knows. */
export function hideSecrets(text: string): string {
  let hidden = text;
  for (const secret of secrets) hidden = hidden.replaceAll(secret, "***");
  return hidden;
}

/** The address of a database or server, for people. */
export function showAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !url.host) return text;
  return `${url.protocol}//${url.username && `${url.username}@`}${url.host}${url.pathname}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
