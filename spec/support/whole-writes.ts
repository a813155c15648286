// What a turn of the process prints goes out in one write. tap writes each line of its report by itself, and each write to a pipe wakes the process that reads
// it: with a hundred thousand lines, that took several times as long as the assertions did.
//
// nothing-kept: text waits for no longer than the turn that has written it, and goes out before the process ends.
import { stdout } from 'node:process';

/** Text that waits for the end of this turn, at most. A turn that prints more is a loop, whose lines should not fill the memory. */
const LIMIT = 256 * 1024;
const write = stdout.write.bind(stdout);
let waiting = '';

function flush(): void {
  if (waiting === '') return;
  const text = waiting;
  waiting = '';
  write(text);
}

stdout.write = ((chunk: unknown, ...rest: unknown[]): boolean => {
  if (typeof chunk !== 'string' || rest.some((each) => each !== undefined && each !== 'utf8')) {
    flush();
    return (write as (...all: unknown[]) => boolean)(chunk, ...rest);
  }
  if (waiting === '') setImmediate(flush).unref();
  waiting += chunk;
  if (waiting.length > LIMIT) flush();
  return true;
}) as typeof stdout.write;
process.once('exit', flush); // nothing-kept
