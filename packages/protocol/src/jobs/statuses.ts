/** Every status a job can have, in the order of its life (spec §3). */
export const STATUSES = ['pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const;

export type Status = (typeof STATUSES)[number];

/** Statuses of a job that has ended. No transition leads out of them. */
export const TERMINAL_STATUSES = ['completed', 'dead', 'killed'] as const satisfies readonly Status[];

export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/**
 * Return whether a job with this status has ended.
 *
 * It is also right for the type of an event: the event that ends a job is named after the status that follows it.
 */
export function isTerminal(status: string | null): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly (string | null)[]).includes(status);
}
