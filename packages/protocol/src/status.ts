/** Every status a job can have, in the order of its life (spec §3). */
export const STATUSES = ['pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const;

export type Status = (typeof STATUSES)[number];
