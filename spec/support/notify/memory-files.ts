// The files of notifications in memory, and a disk that can be full.
import type { NoticeFiles } from '../../../core/store/port.ts';

export class MemoryFiles implements NoticeFiles {
  readonly folders = new Map<string, Map<string, string>>();
  isFull = false;

  in(folder: string): Map<string, string> {
    const found = this.folders.get(folder) ?? new Map<string, string>();
    this.folders.set(folder, found);
    return found;
  }

  async all(folder: string, onBad: (name: string, error: unknown) => void): Promise<readonly (readonly [string, unknown])[]> {
    return [...this.in(folder)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, text]): [string, unknown][] => {
        try {
          return [[name, JSON.parse(text)]];
        } catch (error) {
          onBad(name, error);
          return [];
        }
      });
  }

  async write(folder: string, name: string, value: unknown): Promise<void> {
    if (this.isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    this.in(folder).set(name, JSON.stringify(value));
  }

  async remove(folder: string, name: string): Promise<void> {
    this.in(folder).delete(name);
  }
}
