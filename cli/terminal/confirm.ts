// Asks a person before a step that can't be undone.
import { createPrompter, type PromptStreams } from './prompt.ts';

/** True for `y` and `yes`, false for anything else, Enter included. Rejects with a CliError (`interrupted`) at Ctrl-C and at the end of input. */
export async function confirm(question: string, streams: PromptStreams): Promise<boolean> {
  const prompter = createPrompter(streams);
  try {
    return /^y(es)?$/i.test(await prompter.ask(`${question} [y/N] `, { hidden: false }));
  } finally {
    prompter.close();
  }
}
