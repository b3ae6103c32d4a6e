/** Every status a job can have, in the order of its life. */
export const STATUSES = ['scheduled', 'pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const;

export type Status = (typeof STATUSES)[number];

/** Statuses of a job that has ended. No transition leads out of them. */
export const TERMINAL_STATUSES = ['completed', 'dead', 'killed'] as const satisfies readonly Status[];

export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/** Ends after which the callback of a job is sent, unless its producer asks for others. */
export const CALLBACK_ENDS = ['completed', 'dead'] as const satisfies readonly TerminalStatus[];

/**
 * Return whether a job with this status has ended.
 *
 * It is also right for the type of an event: the event that ends a job is named after the status that follows it.
 */
export function isTerminal(status: string | null): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly (string | null)[]).includes(status);
}

/** What an operation does with each job that matches, and the statuses in which it can do it. */
export const OPERATION_ACTIONS = {
  requeue: ['dead', 'killed'],
  kill: ['scheduled', 'pending', 'delivered', 'running'],
  delete: ['completed', 'dead', 'killed'],
  reschedule: ['scheduled', 'pending'],
} as const satisfies Record<string, readonly Status[]>;

export type OperationAction = keyof typeof OPERATION_ACTIONS;
