/** Let a process run for a share of a core. @returns what ends it */
export function limitCpu(pid: number, share: number, periodMs?: number): () => void;
