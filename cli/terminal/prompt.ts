// Asks a person for values. Callers pass stderr as the output, so that stdout is only data.
//
// hidden-stays-hidden: a hidden value appears in no output and no history. The same holds for text that is typed or pasted
// before a question is asked, because it may be a secret.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from './exit-codes.ts';

/** The streams of a prompter. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  /** Shows questions and visible input. */
  readonly output: NodeJS.WritableStream;
}

/** Asks questions one after the other. */
export interface Prompter {
  /** The typed line, trimmed. Rejects with a CliError (`interrupted`) at Ctrl-C and at the end of input. */
  ask(question: string, options: { readonly hidden: boolean }): Promise<string>;
  close(): void;
}

/** Starts reading the input; close it when all questions are asked. */
export function createPrompter({ input, output }: PromptStreams): Prompter {
  let muted = true;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!muted) output.write(chunk); // hidden-stays-hidden
      done();
    },
  });
  const readline = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  readline.on('SIGINT', () => readline.close());
  // Muted here and not at the next question, because the rest of a paste is read in the same turn.
  readline.on('line', () => {
    muted = true;
  });
  const lines = readline[Symbol.asyncIterator]();
  return {
    async ask(question, { hidden }) {
      // readline must know a visible question, because it redraws the line at every correction.
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
