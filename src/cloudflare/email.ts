/** `cloudflare:email`, for files that import it: a message, which a binding of your own sends. */
export class EmailMessage {
  readonly from: string;
  readonly to: string;
  readonly raw: ReadableStream | string;

  constructor(from: string, to: string, raw: ReadableStream | string) {
    this.from = from;
    this.to = to;
    this.raw = raw;
  }
}
