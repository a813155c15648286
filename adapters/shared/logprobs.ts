// Log probabilities in OpenAI's form, which other servers have taken over. Pure: no I/O.
import type { ChatEvent, TokenLogprob } from '../../core/index.ts';
import { asArray, asCount, asObject, asString } from './read.ts';

/** An event for a list of `{token, logprob, bytes, top_logprobs}`; none for anything else. Entries that can't be read are left out. */
export function logprobsIn(list: unknown): ChatEvent[] {
  const logprobs = asArray(list).flatMap((entry): TokenLogprob[] => {
    const plain = plainLogprob(entry);
    if (plain === undefined) return [];
    const top = asArray(asObject(entry)['top_logprobs']).flatMap((one) => plainLogprob(one) ?? []);
    return [{ ...plain, ...(top.length > 0 && { topLogprobs: top }) }];
  });
  return logprobs.length === 0 ? [] : [{ type: 'logprobs', logprobs }];
}

function plainLogprob(entry: unknown): Omit<TokenLogprob, 'topLogprobs'> | undefined {
  const { token, logprob, bytes } = asObject(entry);
  const text = asString(token);
  if (text === undefined || typeof logprob !== 'number' || !Number.isFinite(logprob)) return undefined;
  const utf8 = asArray(bytes).flatMap((byte) => asCount(byte) ?? []);
  return { token: text, logprob, ...(utf8.length > 0 && { bytes: utf8 }) };
}
