// System errors that mean that there is nothing. Pure.

/** For `catch` on a promise: turns the system errors with these codes into undefined. Every other error is thrown. */
export function undefinedFor(...codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
    return undefined;
  };
}
