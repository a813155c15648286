// Questions to all servers: each answers as far as it knows, and whoever does not answer in time is left out.
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../../base/json.ts';
import { answerItems, type Item } from './notices.ts';

/** What all answers came to. */
export interface Gathered<A> {
  /** How many servers were asked, this one included. */
  readonly asked: number;
  readonly answers: readonly A[];
}

interface Asked {
  readonly answers: Map<string, { readonly parts: (string | undefined)[]; missing: number }>;
  onAnswer(): void;
}

/** Questions of one server. */
export class Questions {
  readonly #asked = new Map<string, Asked>();
  #handler: ((question: unknown) => unknown) | undefined;

  /** How this server answers. Undefined: it says nothing. */
  answer(handler: (question: unknown) => unknown): void {
    this.#handler = handler;
  }

  /** Resolves when `others` servers have answered, or after `ms`. */
  async gather<A>(question: unknown, ms: number, { others, send }: { readonly others: number; send(item: Item): void }): Promise<Gathered<A>> {
    const id = randomUUID();
    const own = await this.#own(question);
    const answers: Asked['answers'] = new Map();
    const whole = () => [...answers.values()].filter(({ missing }) => missing === 0);
    if (others > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        const onAnswer = (): void => {
          if (whole().length < others) return;
          clearTimeout(timer);
          resolve();
        };
        this.#asked.set(id, { answers, onAnswer });
        send({ is: 'question', id, question });
      }).finally(() => this.#asked.delete(id));
    }
    const theirs = whole().map(({ parts }): unknown => parseJson(parts.join('')));
    return { asked: others + 1, answers: [...own, ...theirs] as A[] };
  }

  /** Another server asks. */
  async asked({ id, question }: Item & { readonly is: 'question' }): Promise<readonly Item[]> {
    return (await this.#own(question)).flatMap((answer) => answerItems(id, answer));
  }

  /** Another server answers. */
  take(from: string, { id, part, parts, text }: Item & { readonly is: 'answer' }): void {
    const asked = this.#asked.get(id);
    if (asked === undefined || !(part < parts)) return;
    const answer = asked.answers.get(from) ?? { parts: new Array<string | undefined>(parts).fill(undefined), missing: parts };
    asked.answers.set(from, answer);
    if (answer.parts[part] === undefined) answer.missing -= 1;
    answer.parts[part] = text;
    asked.onAnswer();
  }

  async #own(question: unknown): Promise<unknown[]> {
    const answer = await this.#handler?.(question);
    return answer === undefined ? [] : [answer];
  }
}
