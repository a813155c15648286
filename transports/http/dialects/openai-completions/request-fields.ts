// What each field of a Completions request decides. Pure: no I/O.
import type { RequestFields } from '../../../../core/index.ts';
import { SERVICE_FIELDS } from '../shared/service-fields.ts';

/** The fields of `POST /v1/completions`. */
export const COMPLETION_FIELDS: RequestFields = {
  ...SERVICE_FIELDS,
  best_of: 'answer',
  echo: 'answer',
  frequency_penalty: 'answer',
  logit_bias: 'answer',
  logprobs: 'answer',
  max_tokens: 'answer',
  model: 'answer', // checked by itself
  n: 'answer',
  presence_penalty: 'answer',
  prompt: 'answer',
  seed: 'answer',
  stop: 'answer',
  stream: 'answer',
  stream_options: 'answer',
  suffix: 'answer',
  temperature: 'answer',
  top_p: 'answer',
  user: 'answer',
};
