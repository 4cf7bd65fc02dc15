/** `cloudflare:email`, for files that import it: a message as it was made. What sends it is a binding of your own. */
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
