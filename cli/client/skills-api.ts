// The routes of `/api/skills` as functions, each of which makes one request.
import type { AnswerOf } from '../../transports/http/routes.ts';
import type { Client } from './client.ts';
import { targetOf } from './routes.ts';

/** Each rejects with a CliError that has the server's text. */
export class SkillsApi {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  list(block?: string): Promise<AnswerOf<'GET /api/skills'>> {
    const { method, target } = targetOf('GET /api/skills', {}, { block });
    return this.#client.json(method, target, {});
  }

  show(owner: string, name: string): Promise<AnswerOf<'GET /api/skills/:owner/:name'>> {
    const { method, target } = targetOf('GET /api/skills/:owner/:name', { owner, name });
    return this.#client.json(method, target, {});
  }

  approve(owner: string, name: string, hash: string): Promise<AnswerOf<'POST /api/skills/:owner/:name/approve'>> {
    const { method, target } = targetOf('POST /api/skills/:owner/:name/approve', { owner, name });
    return this.#client.json(method, target, { body: { hash }, headers: { 'x-blockhouse-channel': 'cli' } });
  }
}
