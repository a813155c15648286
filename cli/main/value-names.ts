// What the value of each option is called in help texts, errors and completions. Pure: no I/O.

/** The word for the value of an option, by the long name of the option, which means the same in every command. */
const VALUE_NAMES: Readonly<Record<string, string>> = {
  '--as': 'new-name',
  '--by': 'grouping',
  '--cancel': 'message-id',
  '--client-id': 'text',
  '--description': 'text',
  '--effort': 'effort',
  '--expires': 'time',
  '--fact': 'text',
  '--field': 'field',
  '--file': 'file',
  '--forget': 'fact-id',
  '--from': 'file',
  '--goal': 'text',
  '--host': 'address',
  '--id': 'message-id',
  '--image': 'file',
  '--level': 'level',
  '--limit': 'count',
  '--max-tokens': 'count',
  '--model': 'model',
  '--models': 'pattern',
  '--ollama-port': 'port',
  '--public-origin': 'origin',
  '--output': 'file',
  '--port': 'port',
  '--provider': 'id',
  '--retry': 'message-id',
  '--schema': 'file',
  '--since': 'time',
  '--store': 'address',
  '--system': 'text',
  '--tag': 'word',
  '--temperature': 'number',
  '--timeout': 'seconds',
  '--tokens-per-day': 'count',
  '--unpriced': 'allow|refuse',
  '--usd-per-day': 'amount',
  '--workers': 'count',
  '--workspace': 'folder',
};

/** The word for the value of the option with these names; `value` for an option that is not known here. */
export function valueNameOf(names: readonly string[]): string {
  return names.map((name) => VALUE_NAMES[name]).find((word) => word !== undefined) ?? 'value';
}
