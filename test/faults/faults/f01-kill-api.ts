import type { Fault } from '../fault.js';

export const faults: Fault[] = [
  {
    id: 'F1',
    title: 'an API is killed',
    promises: ['P1', 'P2', 'P3'],
    stops: ['api'],
    lastsMs: 2_000,
    async inject({ installation, random, hits }) {
      const api = random.of(installation.apis);
      hits(api);
      await api.kill();
      return () => api.start();
    },
  },
];
