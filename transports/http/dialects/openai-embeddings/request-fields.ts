// What each field of an Embeddings request decides. Pure: no I/O.
import type { RequestFields } from '../../../../core/index.ts';
import { SERVICE_FIELDS } from '../shared/service-fields.ts';

/** The fields of `POST /v1/embeddings`. What is not understood is left out. */
export const EMBEDDINGS_FIELDS: RequestFields = {
  ...SERVICE_FIELDS,
  dimensions: 'answer',
  encoding_format: 'answer',
  input: 'answer',
  model: 'answer',
  user: 'answer',
};
