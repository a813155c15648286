// Lines that a person types, or that are piped in, one at a time.
//
// N1 While nobody asks for a line, what is typed is kept for the next question and not shown: it would stand amid a reply.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

export interface LineStreams {
  readonly input: NodeJS.ReadableStream;
  /** Where the prompt and the typing show. */
  readonly output: NodeJS.WritableStream;
  /** True for a person's keyboard. */
  readonly terminal: boolean;
}

export interface LineInput {
  /** The next line; undefined at the end of input. */
  next(prompt: string): Promise<string | undefined>;
  close(): void;
}

/** `interrupted` is called at Ctrl-C on an empty line or while nobody asks; a typed line is only taken back. */
export function createLineInput({ input, output, terminal }: LineStreams, interrupted: () => void): LineInput {
  let isAsking = false;
  let isOver = false;
  const lines: string[] = [];
  let deliver: (line: string | undefined) => void = () => undefined;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (isAsking && terminal) output.write(chunk); // N1
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
    // Ctrl-E, Ctrl-U: the typed line goes, the prompt stays.
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
