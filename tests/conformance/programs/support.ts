export const quickly = { retries: { limit: 2, delay: 1, backoff: "constant" } };
export const once = { retries: { limit: 0, delay: 1 } };

/** What a promise came to. */
export async function caught(work: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work };
  } catch (error) {
    return { name: (error as Error).name, message: (error as Error).message };
  }
}

/** Takes longer than any timeout of a program. It keeps no process alive. */
export function tooLong(): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, 30_000);
    (timer as { unref?(): void }).unref?.();
  });
}
