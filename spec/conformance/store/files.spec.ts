// The conformance suite over the file store.
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { openSettings, openStore } from '../../../core/store/open.ts';
import { sweep } from '../../support/sweep.ts';
import { testFolder } from '../../support/test-folder.ts';
import { storeConformance } from './suite.ts';

storeConformance(t, {
  longHistory: sweep(700, 560), // more than chat.json keeps
  gaps: {
    'two memberships': 'one process holds the folder, and the second is refused with WORKSPACE_BUSY',
    'a rename in one step': 'a folder and the name in its config.json can not change together',
  },
  fresh(t) {
    const workspace = testFolder(t);
    return {
      settings: async () => openSettings(workspace),
      open: (clock) => openStore({ workspace, bus: createBus(), now: clock, onLost: async () => undefined }),
    };
  },
});
