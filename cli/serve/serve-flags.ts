// The flags of `blockhouse serve` as a program of its own takes them.
import { parseArgs } from 'node:util';
import type { Flags } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';

/** Throws a CliError. */
export function parseFlags(args: string[]): Flags {
  try {
    const string = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    const { values } = parseArgs({
      args,
      options: {
        host: string,
        port: string,
        'ollama-port': string,
        'public-origin': string,
        workspace: string,
        store: string,
        'allow-remote': flag,
        'gateway-only': flag,
        workers: string,
      },
    });
    const { 'ollama-port': ollamaPort, 'public-origin': publicOrigin, 'allow-remote': allowRemote, 'gateway-only': gatewayOnly, ...others } = values;
    return { ...others, ollamaPort, publicOrigin, allowRemote, gatewayOnly };
  } catch (error) {
    throw new CliError('usage', (error as Error).message, error);
  }
}
