// The files and folders of a block, and their limits: one list for reading, export and import. Pure: no I/O.
const MIB = 1024 * 1024;

/** The limits of a JSON file. */
export interface FileLimits {
  readonly bytes: number;
  /** Fields and elements; MAX_JSON_VALUES when left out. */
  readonly values?: number;
}

/** The JSON files of a block. A larger one is damaged. */
export const BLOCK_FILE_LIMITS = {
  'config.json': { bytes: 4 * MIB },
  'memory.json': { bytes: 32 * MIB },
  'costs.json': { bytes: 16 * MIB },
  'pulse.json': { bytes: 4 * MIB },
  // Only of blocks that have, or had, a schedule.
  'schedule.json': { bytes: 1 * MIB },
  // Holds ten thousand waiting messages, the largest `queue.cap`, beside the active window. Such a file is parsed in some 50 ms.
  'chat.json': { bytes: 64 * MIB, values: 200_000 },
} as const satisfies Record<string, FileLimits>;

/** The folder of a block's skills, whose files are made by people. Each skill has a folder in it, which may have others. */
export const SKILLS_FOLDER = 'skills';
/** What one file of a skill may have, and how deep they lie in its folder. */
export const SKILL_FILES = { bytes: 64 * 1024, depth: 5 } as const;

/** The folders of a block. They hold files only, and none of them may be a link. */
export const BLOCK_FOLDERS: readonly string[] = ['chat-archive', 'logs'];

/** The same, with what only a block with tools has: the journals of its runs. */
export const ALL_BLOCK_FOLDERS: readonly string[] = [...BLOCK_FOLDERS, 'runs'];
