/** Every status a job can have, in the order of a job's life. */
export const STATUSES = ['scheduled', 'pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const;

export type Status = (typeof STATUSES)[number];

/** Statuses of a job that has ended. No transition leads out of them. */
export const TERMINAL_STATUSES = ['completed', 'dead', 'killed'] as const satisfies readonly Status[];

export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/** Outcomes that trigger a job's callback by default. */
export const CALLBACK_ENDS = ['completed', 'dead'] as const satisfies readonly TerminalStatus[];

/** Return whether a status is terminal. Works on event types as well: a job's last event is named after its status. */
export function isTerminal(status: string | null): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly (string | null)[]).includes(status);
}

/** Actions of an operation, each with the statuses in which it is possible. */
export const OPERATION_ACTIONS = {
  requeue: ['dead', 'killed'],
  kill: ['scheduled', 'pending', 'delivered', 'running'],
  delete: ['completed', 'dead', 'killed'],
  reschedule: ['scheduled', 'pending'],
} as const satisfies Record<string, readonly Status[]>;

export type OperationAction = keyof typeof OPERATION_ACTIONS;
