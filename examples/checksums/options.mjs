import assert from 'node:assert';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run example:checksums -- <folder> [options]

  --workers N     worker processes, 1 to 99 (default 4)
  --output FILE   also write the checksums to a file, for "sha256sum -c FILE"
  --kill-one      kill -9 a worker while it works, to see that nothing is lost
  --help          print this
`;

/** Read the command line and the API key. Exits on `--help` and on errors. */
export function readOptions() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }];
  const options = { workers: { ...text, default: '4' }, output: text, 'kill-one': flag, help: flag };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const [folder] = positionals;
    assert(positionals.length === 1, `Give one folder, not ${positionals.length}`);
    assert(statSync(folder, { throwIfNoEntry: false })?.isDirectory(), `${folder} is not a folder`);
    assert(/^[1-9]\d?$/.test(values.workers), `--workers must be a number from 1 to 99, not "${values.workers}"`);
    const { workers, output, 'kill-one': killOne } = values;
    return { folder, workers, output, killOne, apiKey: process.env.YARDMASTER_API_KEY || adminKey() };
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Return the key that `npm start` keeps in its data folder. */
function adminKey() {
  const file = join(process.env.DATA_DIR || '.data', 'admin-key');
  assert(existsSync(file), 'There is no API key: start the service with npm start, or set YARDMASTER_API_KEY');
  return readFileSync(file, 'utf8').trim();
}
