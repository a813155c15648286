// What the value of each option is called in help texts, errors and completions. Pure: no I/O.

/** The word for the value of an option, by the long name of the option, which means the same in every command. */
const VALUE_NAMES: Readonly<Record<string, string>> = {
  '--adapter': 'id',
  '--as': 'new-name',
  '--base-url': 'address',
  '--by': 'grouping',
  '--cache-read': 'usd',
  '--cache-write': 'usd',
  '--cancel': 'message-id',
  '--client-id': 'text',
  '--columns': 'names',
  '--connection': 'id',
  '--description': 'text',
  '--effort': 'effort',
  '--expires': 'time',
  '--fact': 'text',
  '--field': 'field',
  '--file': 'file',
  '--forget': 'fact-id',
  '--from': 'file',
  '--goal': 'text',
  '--group': 'name',
  '--host': 'address',
  '--id': 'message-id',
  '--image': 'file',
  '--in-flight': 'count',
  '--input': 'usd',
  '--key': 'label',
  '--label': 'label',
  '--level': 'level',
  '--like': 'model',
  '--limit': 'count',
  '--max-tokens': 'count',
  '--model': 'model',
  '--models': 'pattern',
  '--ollama-port': 'port',
  '--on': 'failures',
  '--public-origin': 'origin',
  '--output': 'file',
  '--port': 'port',
  '--preset': 'preset',
  '--provider': 'id',
  '--reconcile': 'file',
  '--retry': 'message-id',
  '--rpm': 'count',
  '--schema': 'file',
  '--since': 'time',
  '--store': 'address',
  '--system': 'text',
  '--tag': 'word',
  '--temperature': 'number',
  '--timeout': 'seconds',
  '--tokens-per-day': 'count',
  '--tolerance': 'percent',
  '--tokens-per-month': 'count',
  '--tpm': 'count',
  '--unpriced': 'allow|refuse',
  '--usd-per-day': 'amount',
  '--usd-per-month': 'amount',
  '--usd-per-week': 'amount',
  '--workers': 'count',
  '--workspace': 'folder',
};

/** Where it means something else: the words of a command, and its own. */
const IN_COMMANDS: readonly (readonly [command: string, names: Readonly<Record<string, string>>])[] = [
  ['prices set', { '--output': 'usd' }],
  ['import', { '--from': 'format' }],
];

/** The word for the value of the option with these names, in the command with this usage; `value` for an option that is not known here. */
export function valueNameOf(names: readonly string[], usage = ''): string {
  const own = IN_COMMANDS.find(([command]) => usage.startsWith(`blockhouse ${command} `))?.[1] ?? {};
  return names.map((name) => own[name] ?? VALUE_NAMES[name]).find((word) => word !== undefined) ?? 'value';
}
