/**
 * Calls a callback of the application without letting it fail its caller. `onFailure` receives the error that the callback
 * throws or rejects with; a promise that it returns isn't awaited.
 */
export function callSafely(callback: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    Promise.resolve(callback()).catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
