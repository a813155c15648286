// What each field of a request of Ollama's own API decides. Pure: no I/O.
import type { RequestFields } from '../../../../core/index.ts';
import { SERVICE_FIELDS } from '../shared/service-fields.ts';

/** The fields of `/api/chat`, `/api/generate`, `/api/embed` and `/api/embeddings`. What is not understood is left out. */
export const OLLAMA_FIELDS: RequestFields = {
  ...SERVICE_FIELDS,
  context: 'answer',
  dimensions: 'answer',
  format: 'answer',
  height: 'answer',
  images: 'answer',
  input: 'answer',
  logprobs: 'answer',
  messages: 'answer',
  model: 'answer',
  options: 'answer',
  prompt: 'answer',
  raw: 'answer',
  steps: 'answer',
  stream: 'answer',
  suffix: 'answer',
  system: 'answer',
  template: 'answer',
  think: 'answer',
  tools: 'answer',
  top_logprobs: 'answer',
  truncate: 'answer',
  width: 'answer',
};
