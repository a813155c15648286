// What of a request is data of the application, in the protocols of all clients. Pure: no I/O.

/** Members that hold data, deeper in a request: the schemas of tools and answers, what tools were called with, the variables of a prompt. */
export const DATA: ReadonlySet<string> = new Set([
  'action',
  'arguments',
  'env',
  'guided_json',
  'input',
  'input_examples',
  'input_schema',
  'json',
  'logit_bias',
  'output_schema',
  'parameters',
  'schema',
  'variables',
]);

/** Fields at the top that hold a schema. */
export const SCHEMAS: ReadonlySet<string> = new Set(['guided_json', 'json_schema', 'structured_outputs']);
