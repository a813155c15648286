// The configuration of a block that is not active: in the archive, or as it was imported. Reads only.
import { join } from 'node:path';
import { isObject } from '../../../base/json.ts';
import { parseBytes } from '../../../base/strict-json.ts';
import { parseConfig } from '../../../block/documents/document-codecs.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import { readRegular } from '../regular-file.ts';
import { BLOCK_FILE_LIMITS } from './block-layout.ts';

/** config.json for a stopped block with this name, or with its own. Throws an Error that says what is wrong. */
export async function configIn(folder: string, name: string | undefined, now: number): Promise<BlockConfig> {
  const at = new Date(now).toISOString();
  const bytes = await readRegular(join(folder, 'config.json'), BLOCK_FILE_LIMITS['config.json'].bytes);
  if (bytes === undefined) throw new Error('it is missing');
  const value = parseBytes(bytes);
  const called = name ?? (isObject(value) ? value['name'] : undefined);
  if (!isObject(value) || typeof called !== 'string') throw new Error('it has no name');
  const config = parseConfig({ ...value, name: called }, called, at);
  return { ...config, enabled: false, updatedAt: at, rev: config.rev + 1 };
}
