// npm run test:fuzz [-- --seed S] [--requests N] [--from I] [--lanes L]: odd requests to every endpoint of real processes.
import '../../scripts/typescript.mjs';
import { setUp } from '../../scripts/set-up.mjs';

setUp();
const { prepareInspector } = await import('../../bench/soak/live-memory.mjs');
const { fuzz } = await import('./fuzz.ts');
process.exitCode = await fuzz(process.argv.slice(2), prepareInspector);
