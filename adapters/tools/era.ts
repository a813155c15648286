// Connects to a server in one of the two eras of the protocol, and finds out which one it speaks.
import type { Client, Transport } from '@modelcontextprotocol/client';
import { VERSION } from '../../core/index.ts';
import type { Sdk } from './sdk.ts';
import type { Era } from './server.ts';
import { TASKS } from './task-answer.ts';

/** The revision of the modern era. */
export const MODERN = '2026-07-28';
/** A server of the older era that ignores what it does not know stays silent for so long. */
export const DISCOVER_MS = 5000;

/** What nobody validates: a schema of a server is never compiled, and results are read as they are. */
const NO_VALIDATION = { getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }) };

/** How a server is greeted. */
export interface Greeting {
  readonly era: Era;
  readonly timeoutMs: number;
  /** How long the modern greeting waits. */
  readonly discoverMs?: number;
  /** Called for each note that the list of tools has changed. */
  onListChanged(): void;
}

/** A client that has greeted its server. Rejects with the error of the package. */
export async function connect(sdk: Sdk, transport: Transport, { era, timeoutMs, discoverMs = DISCOVER_MS, onListChanged }: Greeting): Promise<Client> {
  const client = new sdk.Client(
    { name: 'blockhouse', version: VERSION },
    {
      capabilities: era === 'modern' ? { elicitation: { form: {} }, extensions: { [TASKS]: {} } } : {},
      jsonSchemaValidator: NO_VALIDATION,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged } },
      inputRequired: { autoFulfill: false },
      versionNegotiation: era === 'legacy' ? { mode: 'legacy' } : { mode: { pin: MODERN }, probe: { timeoutMs: Math.min(timeoutMs, discoverMs) } },
    },
  );
  client.onerror = () => undefined; // what the server writes besides answers
  await client.connect(transport, { timeout: timeoutMs });
  return client;
}
