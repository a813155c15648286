// A disk that can lose its power: an ext4 file system in a file, on a drive that is itself an ext4 image and stands for the drive's cache.
//
// cut-loses: a cut throws away what had not reached the drive (`kept`), or also what the drive had not been told to flush (`lost`): the ioctl
//    EXT4_IOC_SHUTDOWN without its log flush on the inner or on the outer file system. Nothing is copied, so nothing tears.
// writer-stopped: the writing process is stopped just before the cut, so errors of the cut itself never reach a client.
// replayed-journal: after a cut the same disk is mounted again, and the journals are replayed as after a real power cut.
// cleaned-up: everything is unmounted and removed when the process ends at the latest.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export type DriveCache = 'kept' | 'lost';

const run = promisify(execFile);
const DRIVE_MIB = 112;
const DISK_MIB = 80;
const TOOLS = ['mkfs.ext4', 'mount', 'umount', 'perl'] as const;
/** A process that has just ended may still hold the file system for a moment. */
const UNMOUNT_TRIES = 200;
/** Both are what people mount with; the second one does nothing for a program that forgot its fsync. */
const MOUNT_OPTIONS = ['loop', 'loop,noauto_da_alloc,data=writeback'] as const;

/** Waits for a line, stops a process, waits until none of its threads runs, shuts a file system down, and kills the process. */
const CUT = String.raw`
open(my $root, "<", $ARGV[0]) or die "open: $!";
my ($pid, $flag) = ($ARGV[1], pack("L", 2));
$| = 1; print "ready\n"; defined(<STDIN>) or exit 1;
kill("STOP", $pid);
for (my $tries = 0; $tries < 2000; $tries++) {
  my $runs = 0;
  for my $stat (glob("/proc/$pid/task/*/stat")) { open(my $file, "<", $stat) or next; $runs++ if (<$file> // "") =~ /\) [RS] /; }
  last unless $runs;
}
ioctl($root, 0x8004587d, $flag) or die "ioctl: $!";
kill("KILL", $pid); print "cut\n";
`;

/** Why there can be no such disk here; undefined when there can. */
export async function whyNoDisk(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0) return 'it needs root, for mount';
  for (const tool of TOOLS) if (spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0) return `there is no ${tool}`;
  const disk = new CutDisk();
  try {
    await disk.make();
    await disk.cut(undefined, 'kept');
    await disk.restore();
    return undefined;
  } catch (error) {
    return (error as Error).message.trim().replaceAll('\n', ' ');
  } finally {
    disk.remove();
  }
}

export class CutDisk {
  readonly #folder: string;
  readonly #drive: string;
  readonly #outer: string;
  readonly #inner: string;
  #cache: DriveCache = 'kept';
  readonly #removeAtExit = (): void => this.remove();

  constructor() {
    // In memory where there is such a folder: the flushes of the drive then cost no time of a real one.
    this.#folder = mkdtempSync(join(isWritable('/dev/shm') ? '/dev/shm' : tmpdir(), 'blockhouse-cut-'));
    this.#drive = join(this.#folder, 'drive.img');
    this.#outer = join(this.#folder, 'drive');
    this.#inner = join(this.#folder, 'disk');
    process.once('exit', this.#removeAtExit); // cleaned-up
  }

  /** Where the workspace goes; there while the disk has power. */
  get workspace(): string {
    return join(this.#inner, 'workspace');
  }

  async make(): Promise<void> {
    mkdirSync(this.#outer);
    mkdirSync(this.#inner);
    await run('truncate', ['-s', `${DRIVE_MIB}M`, this.#drive]);
    await run('mkfs.ext4', ['-q', '-F', this.#drive]);
    await run('mount', ['-o', 'loop', this.#drive, this.#outer]);
    // Filled with zeros, so that each block of it has its place on the drive and only its content can be lost.
    await run('dd', ['if=/dev/zero', `of=${this.#image}`, 'bs=1M', `count=${DISK_MIB}`, 'conv=fsync']);
    await run('mkfs.ext4', ['-q', '-F', '-E', 'nodiscard', this.#image]);
    await run('sync', [this.#image]);
    await run('mount', ['-o', MOUNT_OPTIONS[0], this.#image, this.#inner]);
    mkdirSync(this.workspace);
    await run('sync', ['-f', this.#inner]);
  }

  /** Resolves when the power is gone and the process `pid` was told to end. */
  async cut(pid: number | undefined, cache: DriveCache): Promise<void> {
    this.#cache = cache;
    // Started before the moment, so that the moment is the line and not the start of a process.
    const child = spawn('perl', ['-e', CUT, cache === 'kept' ? this.#inner : this.#outer, String(pid ?? 0x7ffffff)], { stdio: ['pipe', 'pipe', 'pipe'] });
    const ended = once(child, 'close');
    const stderr = readText(child.stderr);
    await once(child.stdout, 'data');
    child.stdin.end('now\n');
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`the power could not be cut: ${await stderr}`);
  }

  /** replayed-journal. With `unforgiving`, the file system is mounted without options that hide a missing fsync. */
  async restore(unforgiving = false): Promise<void> {
    await unmount(this.#inner);
    if (this.#cache === 'lost') {
      await unmount(this.#outer);
      await run('mount', ['-o', 'loop', this.#drive, this.#outer]);
    }
    await run('mount', ['-o', MOUNT_OPTIONS[unforgiving ? 1 : 0], this.#image, this.#inner]);
  }

  /** cleaned-up. Copies the workspace to `keep`, if it is given. */
  remove(keep?: string): void {
    process.off('exit', this.#removeAtExit);
    if (!existsSync(this.#folder)) return;
    if (keep !== undefined) spawnSync('cp', ['-a', this.workspace, keep]);
    // Lazily: it must be gone even where a process has not ended yet.
    for (const path of [this.#inner, this.#outer]) spawnSync('umount', ['-l', path]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #image(): string {
    return join(this.#outer, 'disk.img');
  }
}

async function unmount(path: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await run('umount', [path]);
      return;
    } catch (error) {
      if (tries === UNMOUNT_TRIES) throw error;
      await delay(10);
    }
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // the other folder is as good
  }
}
