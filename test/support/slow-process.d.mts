/** Let a process run for a share of a core. @returns a function that ends the limit */
export function limitCpu(pid: number, share: number, periodMs?: number): () => void;
