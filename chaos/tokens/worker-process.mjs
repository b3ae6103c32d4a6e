// A worker process that stale-workers.ts stops and resumes.
import '../../scripts/typescript.mjs';

const { workAsOrdered } = await import('./worker.ts');

process.once('message', async (order) => {
  await workAsOrdered(order);
  process.send('ended', () => process.disconnect());
});
process.once('disconnect', () => process.exit());
process.send('started');
