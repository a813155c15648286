// The configuration of a block that is not active: in the archive, or as it was imported. Reads only.
import { join } from 'node:path';
import { parseBytes } from '../../../base/strict-json.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import { readRegular } from '../regular-file.ts';
import { BLOCK_FILE_LIMITS } from '../../parts/block-layout.ts';
import { stoppedConfig } from '../../parts/documents.ts';

/** config.json for a stopped block with this name, or with its own. Throws an Error that says what is wrong. */
export async function configIn(folder: string, name: string | undefined, now: number): Promise<BlockConfig> {
  const bytes = await readRegular(join(folder, 'config.json'), BLOCK_FILE_LIMITS['config.json'].bytes);
  if (bytes === undefined) throw new Error('it is missing');
  return stoppedConfig(parseBytes(bytes), name, now);
}
