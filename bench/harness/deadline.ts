/** Gives up on `work` after `milliseconds`, so that one contender that hangs doesn't take the others with it. */
export async function withDeadline<Value>(work: Promise<Value>, milliseconds: number, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} didn't end within ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
