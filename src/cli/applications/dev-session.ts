import { randomBytes, timingSafeEqual } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a `perdure dev` keeps while its application is loaded again and again. */
export interface DevSession {
  /** 0 until it is known. */
  readonly port: number;
  /** The cookie of browsers that have used a link. */
  readonly cookie: string;
  /** By which `perdure open` asks for a new link. */
  readonly control: string;
  /** Tokens of links that no browser has used yet. */
  readonly links: readonly string[];
}

/** From the process of `perdure dev` to that of the application. */
export interface DevOrder {
  readonly file: string;
  readonly session: DevSession;
  /** Whether another port may be taken if this one is in use. */
  readonly anyPort: boolean;
}

/** From the process of the application. */
export type DevNews =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "links"; readonly links: readonly string[] };

export function createSecret(): string {
  return randomBytes(24).toString("base64url");
}

export function isSame(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export function linkTo(port: number, token: string): string {
  return `http://127.0.0.1:${port}/?token=${token}`;
}

/** Where `perdure open` finds a running `perdure dev`. Only the same user can read it. */
const FOLDER = ".perdure";

export interface DevPlace {
  readonly pid: number;
  readonly port: number;
  readonly control: string;
}

export function writePlace(directory: string, place: DevPlace): void {
  const folder = join(directory, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, ".gitignore"), "*\n");
  rmSync(join(folder, "dev.json"), { force: true });
  writeFileSync(join(folder, "dev.json"), JSON.stringify(place), { mode: 0o600 });
}

export function removePlace(directory: string): void {
  rmSync(join(directory, FOLDER, "dev.json"), { force: true });
}

/** Null if no `perdure dev` has left its place here. */
export function readPlace(directory: string): DevPlace | null {
  try {
    return JSON.parse(readFileSync(join(directory, FOLDER, "dev.json"), "utf8")) as DevPlace;
  } catch {
    return null;
  }
}
