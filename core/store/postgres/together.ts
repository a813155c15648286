// Questions that wait for the same turn, and are answered by the same statements. Pure: no I/O.

/** So many are answered at once. */
const MOST = 256;

/** Questions of one kind. */
export class Together<Q, A> {
  readonly #inTurn: (work: () => Promise<readonly A[]>) => Promise<readonly A[]>;
  readonly #answer: (asked: readonly Q[]) => Promise<readonly A[]>;
  /** Those that wait for their turn. */
  #next: { readonly asked: Q[]; readonly answers: Promise<readonly A[]> } | undefined;

  /** `inTurn` calls its work later, never at once. `answer` has an answer for each question, in their order; if it fails, all of them do. */
  constructor(inTurn: (work: () => Promise<readonly A[]>) => Promise<readonly A[]>, answer: (asked: readonly Q[]) => Promise<readonly A[]>) {
    this.#inTurn = inTurn;
    this.#answer = answer;
  }

  ask(question: Q): Promise<A> {
    const { asked, answers } = this.#open();
    const n = asked.push(question) - 1;
    return answers.then((all) => all[n] as A);
  }

  #open(): { readonly asked: Q[]; readonly answers: Promise<readonly A[]> } {
    if (this.#next !== undefined && this.#next.asked.length < MOST) return this.#next;
    const asked: Q[] = [];
    const answers = this.#inTurn(() => {
      if (this.#next?.asked === asked) this.#next = undefined;
      return this.#answer(asked);
    });
    this.#next = { asked, answers };
    return this.#next;
  }
}
