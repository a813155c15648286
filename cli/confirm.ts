// Asks a person before something is done that can't be taken back.
import { createPrompter, type PromptStreams } from './prompt.ts';

/** True for `y` and `yes`; anything else, Enter too, is no. Rejects as interrupted at Ctrl-C and at the end of input. */
export async function confirm(question: string, streams: PromptStreams): Promise<boolean> {
  const prompter = createPrompter(streams);
  try {
    return /^y(es)?$/i.test(await prompter.ask(`${question} [y/N] `, { hidden: false }));
  } finally {
    prompter.close();
  }
}
