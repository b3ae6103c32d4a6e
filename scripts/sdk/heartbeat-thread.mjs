// Bundle the thread that sends the heartbeats of a worker into one text, which the SDK for TypeScript contains: programs that use
// it may be bundled, and then have no file for a thread.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { replaceFile } from '../replace-file.mjs';

const worker = fileURLToPath(new URL('../../sdk/typescript/src/worker/', import.meta.url));
const { outputFiles } = await build({
  entryPoints: [`${worker}heartbeat-thread.ts`],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'cjs', // A thread that is given as text is not a module.
  target: 'node20.19',
  minify: true,
});
const text = JSON.stringify(outputFiles[0].text);
const source = `// Made of heartbeat-thread.ts by npm run build.\nexport const HEARTBEAT_THREAD: string = ${text};\n`;
replaceFile(`${worker}heartbeat-thread.generated.ts`, Buffer.from(source));
