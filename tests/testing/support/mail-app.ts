import { defineHook } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

interface Mail {
  readonly to: string;
}

/** An application that keeps what its hook `send` was given, and when. */
export async function createMailApp(behaviour: (mail: Mail, attempt: number) => unknown = () => {}) {
  const sent: { to: string; at: number }[] = [];
  const send = defineHook(
    { retries: { limit: 3, delay: "1 minute", backoff: "constant" } },
    async (mail: Mail, hook) => {
      sent.push({ to: mail.to, at: app.now() });
      await behaviour(mail, hook.attempts);
    },
  );
  const app = await createTestApp({ hooks: { send } });
  return { app, sent, recipients: () => sent.map(({ to }) => to) };
}
