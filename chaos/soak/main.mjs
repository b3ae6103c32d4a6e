// npm run test:long -- soak [-- --minutes 60 --seed S --rate 12 --sdk TypeScript]: mixed faults, one every 20 s; see ../README.md.
import '../../scripts/typescript.mjs';
import { setUp } from '../../scripts/set-up.mjs';

setUp();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // This stops the installation.
const { soak } = await import('./soak.ts');
process.exitCode = await soak(process.argv.slice(2));
