/** Every status a job can have, in the order of its life (spec §3). */
export const STATUSES = ['pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const;

export type Status = (typeof STATUSES)[number];

/** Statuses that nothing leaves again. */
export const TERMINAL_STATUSES = ['completed', 'dead', 'killed'] as const satisfies readonly Status[];

/** Whether a job in this status has ended and only waits for its retention to pass. */
export function isTerminal(status: Status): boolean {
  return (TERMINAL_STATUSES as readonly Status[]).includes(status);
}
