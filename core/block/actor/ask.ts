// Sends commands to a block's actor and waits for their answers.
import type { ActorRefFrom } from 'xstate';
import { takenOver } from '../../errors.ts';
import type { BlockMachine } from './machine.ts';
import type { Answer, Answers, Command } from './types.ts';

/** The actor of one block. */
export type BlockActor = ActorRefFrom<BlockMachine>;

let tickets = 0;

/** Sends a command. Resolves with the machine's answer, or rejects with its refusal. */
export function ask<C extends Command>(actor: BlockActor, command: C): Promise<Answers[C['type']]> {
  tickets += 1;
  const ticket = tickets;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      listening.unsubscribe();
      failing.unsubscribe();
    };
    const listening = actor.on('answer', (answer: Answer) => {
      if (answer.to !== command.type || (answer.ticket ?? ticket) !== ticket) return;
      leave();
      if (answer.error === undefined) resolve(answer.value as Answers[C['type']]);
      else reject(answer.error);
    });
    const failing = actor.subscribe({
      error: (error) => {
        leave();
        reject(error);
      },
      complete: () => {
        leave();
        reject(takenOver());
      },
    });
    actor.send({ ...command, ticket });
  });
}
