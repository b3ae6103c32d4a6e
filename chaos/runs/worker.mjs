// A process that makes the run that run-all.ts requests.
import '../../scripts/typescript.mjs';

const { runOne } = await import('./run-one.ts');

process.on('message', async (order) => {
  try {
    process.send({ summary: await runOne(order) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit(1)); // Children are ended on exit.
