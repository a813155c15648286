// How long work takes, measured only where somebody wants to know. Pure but for the clock.

/** Begins to measure; the returned function ends that and tells it. Undefined where nobody wants to know. */
export type Timing = () => (() => void) | undefined;

/** Does the work, and tells how long that took if it has succeeded. */
export async function timed<T>(timing: Timing | undefined, work: () => Promise<T>): Promise<T> {
  const tell = timing?.();
  const result = await work();
  tell?.();
  return result;
}
