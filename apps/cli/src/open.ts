import { spawn } from 'node:child_process';
import { type CommandLine, defineCommand, type Env, UsageError } from './command.js';
import { CALL_EXIT, done, exitCodesHelp } from './exit-codes.js';
import { type SpaceFlags, serviceOf, withSpaceOption } from './flags.js';

interface Flags extends SpaceFlags {
  print?: boolean;
}

/** `yardmaster open`: opens the dashboard in a browser. */
export const openCommand = defineCommand({
  name: 'open',
  example: 'open --space demo',
  define: (command) =>
    withSpaceOption(
      command
        .description('Open the dashboard at a job, a space or its start page, and print the URL.')
        .argument('[jobId]', 'ID of the job'),
    )
      .option('--print', 'print the URL without opening a browser')
      .addHelpText('after', exitCodesHelp(CALL_EXIT)),
  parse({ args: [jobId], flags, env }: CommandLine<Flags>) {
    const { base } = serviceOf(flags, env);
    if (jobId !== undefined && flags.space !== undefined) throw new UsageError('give either a job ID or --space');
    if (jobId === '' || flags.space === '') throw new UsageError('the ID is empty');
    const spaceId = flags.space ?? (env.YARDMASTER_SPACE || undefined);
    // Routes of apps/ui/src/app.tsx.
    const space = spaceId === undefined ? [] : ['spaces', spaceId];
    const path = jobId === undefined ? space : ['jobs', jobId];
    const url = `${base}/ui/#/${path.map(encodeURIComponent).join('/')}`;
    return { url, browser: flags.print ? null : browserOf(url, process.platform, env) };
  },
  async run({ url, browser }, { out }) {
    if (browser !== null) {
      const [program, ...args] = browser;
      const child = spawn(program, args, { stdio: 'ignore', detached: true, windowsVerbatimArguments: true });
      child.on('error', () => undefined); // Without a browser, the user still has the printed URL.
      child.unref();
    }
    return done(out, [url]);
  },
});

/** Return the command that opens a URL in the browser of this machine; null without a display. */
export function browserOf(url: string, platform: string, env: Env): [program: string, ...args: string[]] | null {
  if (platform === 'darwin') return ['open', url];
  // `start` takes the first quoted argument as a window title. A URL contains no quotes.
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', `"${url}"`];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', url] : null;
}
