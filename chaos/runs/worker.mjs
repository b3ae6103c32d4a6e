// Process that makes the run requested by run-all.ts.
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
process.on('SIGTERM', () => process.exit(1)); // Child processes are stopped on exit.
