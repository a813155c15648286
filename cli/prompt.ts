// Asks a person for values; what is secret is not echoed.
//
// Q1 A hidden value reaches no output and no history; nor does what is typed or pasted ahead of its question,
//    since it may be one.
// Q2 Questions are talk: they go to stderr, so that stdout stays data.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from './exit-codes.ts';

export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  /** Where questions and visible typing show. */
  readonly output: NodeJS.WritableStream;
}

export interface Prompter {
  /** The typed line, trimmed. Rejects as interrupted at Ctrl-C and at the end of input. */
  ask(question: string, options: { readonly hidden: boolean }): Promise<string>;
  close(): void;
}

export function createPrompter({ input, output }: PromptStreams): Prompter {
  let muted = true;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!muted) output.write(chunk); // Q1
      done();
    },
  });
  const readline = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  readline.on('SIGINT', () => readline.close());
  // At once, not when the next question is asked: the rest of a paste is read in the same turn (Q1).
  readline.on('line', () => {
    muted = true;
  });
  const lines = readline[Symbol.asyncIterator]();
  return {
    async ask(question, { hidden }) {
      // A visible question belongs to readline, which draws the line anew at every correction.
      readline.setPrompt(hidden ? '' : question);
      if (hidden) output.write(question);
      muted = hidden;
      readline.prompt();
      const line = await lines.next();
      if (hidden || line.done) output.write('\n');
      if (line.done) throw new CliError('interrupted', 'interrupted');
      return line.value.trim();
    },
    close: () => readline.close(),
  };
}
