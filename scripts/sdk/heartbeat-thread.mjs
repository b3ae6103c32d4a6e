// Bundle the thread that sends a worker's heartbeats into a string in the TypeScript SDK, because a bundled program has no
// separate file for a thread.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { replaceFile } from '../replace-file.mjs';

const worker = fileURLToPath(new URL('../../sdk/typescript/src/worker/', import.meta.url));
const { outputFiles } = await build({
  entryPoints: [`${worker}heartbeat-thread.ts`],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'cjs', // A thread started from a string is not a module.
  target: 'node20.19',
  minify: true,
});
const text = JSON.stringify(outputFiles[0].text);
const source = `// Made of heartbeat-thread.ts by npm run build.\nexport const HEARTBEAT_THREAD: string = ${text};\n`;
replaceFile(`${worker}heartbeat-thread.generated.ts`, Buffer.from(source));
