// The doctor's look at a workspace that this process does not hold: takes no lock and writes nothing, so a server may run on it.

import { lstatSync } from 'node:fs';
import { createBus } from '../bus.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { isPriceKnown } from '../gateway/known-price.ts';
import { Prices } from '../gateway/pricing.ts';
import type { DoctorReport } from '../schemas/workspace-api.ts';
import { BlockFolders } from '../store/files/block/block-folders.ts';
import { openFiles, openSchedules, readContents } from '../store/files/block/files.ts';
import { Ledger } from '../store/files/file-store.ts';
import type { BlockContents } from '../store/port.ts';
import { examine } from './doctor.ts';

/** Examines every file. Throws an Error if there is no such folder, or it can't be read. */
export async function examineOffline(workspace: string, gateway: Gateway): Promise<DoctorReport> {
  lstatSync(workspace); // throws
  const folders = new BlockFolders(workspace);
  const read = (name: string): Promise<BlockContents> => readOnly(folders.folderOf(name), name);
  const prices = new Prices();
  return examine({
    workspace,
    ledger: new Ledger(workspace, createBus()),
    adapters: gateway.adapterIds().map((id) => gateway.adapter(id)),
    isPriceKnown: (candidate) => isPriceKnown({ gateway, prices }, candidate),
    read,
    schedules: async (name) => {
      const file = openSchedules(folders.folderOf(name), () => undefined);
      await file.close();
      return file.read();
    },
    now: Date.now,
  });
}

/** Reads the files of a block. Closed files keep no copies of damaged content and write nothing. */
async function readOnly(folder: string, name: string): Promise<BlockContents> {
  const nobody = { onChanged: () => undefined, onDamaged: () => undefined, onRebuilt: () => undefined };
  const files = openFiles(folder, name, nobody, () => new Date().toISOString());
  for (const file of [files.config, files.memory, files.costs, files.pulse, files.chat]) await file.close();
  return readContents(files);
}
