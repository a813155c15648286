// How a server of the kill rig is started.

/** Where it ends itself. */
export const POINTS = [
  'before-answer-record',
  'before-call-record',
  'torn-call-record',
  'before-bytes-leave',
  'after-effect',
  'before-result-record',
  'after-result-record',
  'after-end-record',
] as const;
/** Where it ends itself in tasks, besides. */
export const TASK_POINTS = ['before-task-record', 'after-task-record', 'in-task'] as const;
/** Where it ends itself in forms, besides: asked, shown, answered, sent. */
export const FORM_POINTS = [
  'before-input-record',
  'after-input-record',
  'before-ask-record',
  'after-ask-record',
  'before-decision-record',
  'after-decision-record',
  'before-answer-leaves',
  'after-answer-effect',
] as const;
export type Point = (typeof POINTS)[number] | (typeof TASK_POINTS)[number] | (typeof FORM_POINTS)[number];

export interface NodeOptions {
  readonly workspace: string;
  readonly book: string;
  /** The program of the tools. */
  readonly server: string;
  readonly daemon: string;
  readonly blocks: readonly string[];
  /** What each block is asked for, once. */
  readonly messages: readonly string[];
  /** The database that has the workspace, where it is none of the folder, and the lease of servers there. */
  readonly store?: string;
  readonly leaseMs?: number;
  /** Ends itself there, the n-th time that it comes by. */
  readonly point?: Point;
  readonly times: number;
  /** What the tools ask a person is answered, as soon as it is shown. */
  readonly answersForms?: boolean;
}
