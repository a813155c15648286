// Lines that a person types or that are piped in, one at a time.
//
// no-echo-between: what a person types while no line is asked for is kept for the next question and not shown, because it
// would appear in the middle of a reply.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** The streams of a line input. */
export interface LineStreams {
  readonly input: NodeJS.ReadableStream;
  /** Shows the prompt and what is typed. */
  readonly output: NodeJS.WritableStream;
  /** True for a person's keyboard. */
  readonly terminal: boolean;
}

/** A source of lines. */
export interface LineInput {
  /** The next line; undefined at the end of input. */
  next(prompt: string): Promise<string | undefined>;
  close(): void;
}

/** Reads lines. Ctrl-C on an empty line, or while no line is asked for, calls `interrupted`; on a typed line it only clears the line. */
export function createLineInput({ input, output, terminal }: LineStreams, interrupted: () => void): LineInput {
  let isAsking = false;
  let isOver = false;
  const lines: string[] = [];
  let deliver: (line: string | undefined) => void = () => undefined;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (isAsking && terminal) output.write(chunk); // no-echo-between
      done();
    },
  });
  const readline = createInterface({ input, output: echo, terminal, historySize: terminal ? 100 : 0 });
  readline.on('line', (line) => {
    lines.push(line);
    settle();
  });
  readline.on('close', () => {
    isOver = true;
    settle();
  });
  readline.on('SIGINT', () => {
    if (!isAsking || readline.line === '') return interrupted();
    // Ctrl-E, Ctrl-U: clears the typed line and keeps the prompt.
    readline.write(null, { ctrl: true, name: 'e' });
    readline.write(null, { ctrl: true, name: 'u' });
  });
  function settle(): void {
    if (!isAsking || (lines.length === 0 && !isOver)) return;
    isAsking = false;
    deliver(lines.shift());
  }
  return {
    next(prompt) {
      return new Promise((resolve) => {
        deliver = resolve;
        isAsking = true;
        if (lines.length === 0 && !isOver && terminal) {
          readline.setPrompt(prompt);
          readline.prompt(true);
        }
        settle();
      });
    },
    close: () => readline.close(),
  };
}
